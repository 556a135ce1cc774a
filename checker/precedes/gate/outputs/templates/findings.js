// The findings of the gate: filters, the keyboard, and diagrams that one can follow.
(() => {
  const findings = [...document.querySelectorAll("article")];
  for (const figure of document.querySelectorAll("article figure")) {
    const name = figure.closest("article").querySelector("strong").textContent.slice(0, 60);
    figure.replaceChildren(...diagrams.diagram(figure.querySelector("svg"), name));
  }
  const [filters, search, kind, count] = ["filters", "search", "by-kind", "count"].map((id) => document.getElementById(id));
  const update = () => {
    const words = search.value.trim().toLowerCase();
    for (const each of findings) {
      each.hidden = (words && !each.textContent.toLowerCase().includes(words)) || (kind.value && each.dataset.kind !== kind.value);
    }
    count.textContent = `${findings.filter((each) => !each.hidden).length} of ${findings.length}`;
  };
  let at = -1;
  const go = (by) => {
    const shown = findings.filter((each) => !each.hidden);
    at = Math.min(shown.length - 1, Math.max(0, at + by));
    shown[at]?.focus();
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select");
    if (event.key === "Escape" && typing) event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = { "/": () => search.focus(), j: () => go(1), k: () => go(-1) };
    if (acts[event.key]) {
      event.preventDefault();
      acts[event.key]();
    } else {
      diagrams.press(event);
    }
  });
  filters.addEventListener("input", update);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.hidden = false;
  update();
})();
