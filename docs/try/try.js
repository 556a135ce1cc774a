// Runs `precedes check` in the browser. Python is beside this page, where `make try` has put it, and is loaded by the
// first click: some 13 MB.
(() => {
  "use strict";
  const part = (name) => document.getElementById(`try-${name}`);
  const missing =
    "Python for the browser is not beside this page. In the sources: run `make try`, then " +
    "`python -m http.server --directory build/site`, and open the page that this serves. " +
    "A browser loads it from no folder.";
  const base = new URL("try/", document.baseURI);
  let loading;

  const fetched = async (name) => {
    const answer = await fetch(new URL(name, base));
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer;
  };

  const load = async () => {
    const { loadPyodide } = await import(new URL("pyodide.mjs", base).href);
    const python = await loadPyodide({ indexURL: base.href });
    python.unpackArchive(await (await fetched("precedes.whl")).arrayBuffer(), "wheel");
    await python.runPythonAsync(await (await fetched("judge.py")).text());
    return python.globals.get("judge");
  };

  const show = ([text, drawings]) => {
    part("output").textContent = text;
    for (const drawing of drawings) {
      // Made by the program, which escapes every name.
      const place = document.createElement("figure");
      place.innerHTML = drawing;
      part("drawings").append(place);
    }
  };

  const run = async () => {
    part("run").disabled = true;
    part("drawings").replaceChildren();
    part("output").textContent = loading ? "" : "loading Python; this takes some seconds";
    let judge;
    try {
      loading ??= load();
      judge = await loading;
    } catch (error) {
      loading = undefined;
      part("output").textContent = `${missing}\n\n(${error})`;
    }
    try {
      const answer = judge?.(part("source").value);
      if (answer) show(answer.toJs());
      answer?.destroy();
    } catch (error) {
      part("output").textContent = `This is a mistake of the program, not yours:\n\n${error}`;
    }
    part("run").disabled = false;
  };

  part("run").addEventListener("click", run);
  part("source").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  });
})();
