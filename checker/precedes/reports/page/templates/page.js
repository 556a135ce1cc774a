// The violations of the report: filters, charts, and diagrams that one can zoom and follow. Texts of a trace are set as
// text and never read as markup; the drawings are made, and escaped, by the program that wrote this page.
(() => {
  const { element, diagram, press } = diagrams;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  let drawings = null;
  const drawing = (number) => {
    drawings = drawings || JSON.parse(byId("drawings").textContent);
    return new DOMParser().parseFromString(drawings[number], "image/svg+xml").documentElement;
  };
  const nameOf = (one) => data.names[one.n];
  const pairsOf = (one) => {
    const found = [];
    for (let k = 0; k + 1 < (one.p || []).length; k += 2) {
      found.push(`${data.entities[one.p[k]]} → ${data.entities[one.p[k + 1]]}`);
    }
    return found;
  };
  // Lags fall into steps of 1, 10, 100 of each unit; the number is the place of the step.
  const STEPS = ["< 1 µs", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s", "1000 s or more"];
  const stepOf = (lag) => (lag < 1000 ? 0 : Math.min(STEPS.length - 1, Math.floor(Math.log10(lag)) - 2));
  for (const one of data.cases) {
    one.found = [nameOf(one), one.x, one.s, one.k || "", one.d || "", ...pairsOf(one)].join("\n").toLowerCase();
  }

  // ---- filters

  const AT_ONCE = 25;
  const chosen = { pair: null, step: null };
  let shown = AT_ONCE;
  let kept = data.cases;
  const filters = byId("filters");
  const fields = { search: byId("search"), name: byId("by-name"), part: byId("by-part"), day: byId("by-day") };
  const fill = (select, values) => {
    select.append(new Option("all", ""));
    for (const value of [...new Set(values)].sort()) select.append(new Option(value, value));
    select.parentElement.hidden = select.options.length < 2;
  };
  fill(fields.name, data.cases.map(nameOf));
  fill(fields.part, data.cases.map((one) => one.k).filter(Boolean));
  fill(fields.day, data.cases.map((one) => one.d).filter(Boolean));
  const passes = (one, but) => {
    const words = fields.search.value.trim().toLowerCase();
    return (!words || one.found.includes(words))
      && (!fields.name.value || nameOf(one) === fields.name.value)
      && (!fields.part.value || one.k === fields.part.value)
      && (but === "day" || !fields.day.value || one.d === fields.day.value)
      && (but === "pair" || chosen.pair === null || pairsOf(one).includes(chosen.pair))
      && (but === "step" || chosen.step === null || (one.l !== undefined && stepOf(one.l) === chosen.step));
  };
  const update = () => {
    kept = data.cases.filter((one) => passes(one));
    byId("count").textContent = `${kept.length.toLocaleString("en")} of ${data.cases.length.toLocaleString("en")}`;
    shown = AT_ONCE;
    charts();
    list();
  };

  // ---- charts

  const MOST_BARS = 12;
  const MOST_DAYS = 31;
  const counted = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return counts;
  };
  const chart = (title, counts, label, pressed, choose, limit = MOST_BARS) => {
    const box = element("section", undefined, "chart");
    box.append(element("h3", title));
    const most = Math.max(...counts.map(([, many]) => many));
    for (const [value, many] of counts.slice(0, limit)) {
      const row = element("button");
      row.type = "button";
      row.title = label(value);
      row.setAttribute("aria-pressed", String(pressed(value)));
      row.append(element("span", label(value), "what"));
      const space = element("span");
      const bar = element("span", undefined, "bar");
      bar.style.display = "block";
      bar.style.width = `${(100 * many) / most}%`;
      space.append(bar);
      row.append(space, element("span", many.toLocaleString("en"), "many"));
      row.addEventListener("click", () => choose(pressed(value) ? null : value));
      box.append(row);
    }
    if (counts.length > limit) {
      const rest = counts.slice(limit).reduce((sum, [, many]) => sum + many, 0);
      box.append(element("p", `and ${counts.length - limit} more, with ${rest.toLocaleString("en")}`, "soft"));
    }
    return box;
  };
  const charts = () => {
    const box = byId("charts");
    box.replaceChildren();
    const days = counted(data.cases.filter((one) => one.d && passes(one, "day")).map((one) => one.d));
    if (days.size) {
      box.append(chart("Violated by day", [...days].sort(), String, (day) => fields.day.value === day, (day) => {
        fields.day.value = day || "";
        update();
      }, MOST_DAYS));
    }
    const pairs = counted(data.cases.filter((one) => passes(one, "pair")).flatMap(pairsOf));
    if (pairs.size) {
      const sorted = [...pairs].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
      box.append(chart("By sender and receiver", sorted, String, (pair) => chosen.pair === pair, (pair) => {
        chosen.pair = pair;
        update();
      }));
    }
    const lags = data.cases.filter((one) => one.l !== undefined && passes(one, "step"));
    if (lags.length) {
      const steps = [...counted(lags.map((one) => stepOf(one.l)))].sort((a, b) => a[0] - b[0]);
      const label = (step) => (step && step < STEPS.length - 1 ? `from ${STEPS[step]}` : STEPS[step]);
      box.append(chart("By the longest delay of a message", steps, label, (step) => chosen.step === step, (step) => {
        chosen.step = step;
        update();
      }));
    }
    box.hidden = !box.children.length;
  };

  // ---- the list

  const list = () => {
    const box = byId("cases");
    box.replaceChildren(...kept.slice(0, shown).map(caseOf));
    byId("more").hidden = kept.length <= shown;
    const first = box.querySelector("details");
    if (first) first.open = true;
  };
  const caseOf = (one) => {
    const made = element("details", undefined, "case");
    const summary = element("summary");
    summary.append(element("code", nameOf(one)), ` in ${one.x}`);
    if (one.d) summary.append(` on ${one.d}`);
    if (one.k) summary.append(` (${one.k})`);
    summary.append(element("br"), element("span", one.s, "soft"));
    made.append(summary);
    made.addEventListener("toggle", () => {
      if (made.open && made.children.length === 1) made.append(inside(one));
    });
    return made;
  };
  const inside = (one) => {
    const box = element("div");
    if (one.t) box.append(element("p", `The longest delay of a marked delivery is ${one.t}.`, "soft"));
    if (one.g === undefined) box.append(element("p", "This violation is not drawn here.", "soft"));
    else box.append(...diagram(drawing(one.g), `${nameOf(one)}-${one.x}`, [["Compare", "Put it beside another", () => compare(one)]]));
    if (one.m) box.append(element("pre", one.m));
    return box;
  };

  // ---- two side by side

  const compare = (one) => {
    const panel = byId("compared");
    const column = element("div");
    const close = element("button", "Remove");
    close.type = "button";
    close.addEventListener("click", () => {
      column.remove();
      panel.hidden = !panel.children.length;
    });
    const about = element("p");
    about.append(element("code", nameOf(one)), ` in ${one.x} `, close);
    column.append(about, element("p", one.s, "soft"), ...diagram(drawing(one.g), `${nameOf(one)}-${one.x}`));
    if (panel.children.length > 1) panel.firstElementChild.remove();
    panel.append(column);
    panel.hidden = false;
    panel.scrollIntoView({ block: "nearest" });
  };

  // ---- the keyboard

  let at = -1;
  const go = (by) => {
    const every = [...document.querySelectorAll(".case")];
    if (!every.length) return;
    at = Math.min(every.length - 1, Math.max(0, at + by));
    every.forEach((each, number) => each.classList.toggle("at", number === at));
    every[at].querySelector("summary").focus();
    every[at].scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select");
    if (event.key === "Escape" && typing) event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = { "/": () => fields.search.focus(), j: () => go(1), k: () => go(-1) };
    if (acts[event.key]) {
      event.preventDefault();
      acts[event.key]();
    } else {
      press(event);
    }
  });
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll(".case").forEach((each) => {
      each.open = true;
    });
  });

  filters.addEventListener("input", update);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => {
    chosen.pair = null;
    chosen.step = null;
    setTimeout(update);
  });
  byId("more").addEventListener("click", () => {
    const from = shown;
    shown += AT_ONCE;
    byId("cases").append(...kept.slice(from, shown).map(caseOf));
    byId("more").hidden = kept.length <= shown;
  });
  for (const each of [filters, byId("cases"), document.querySelector(".keys")]) each.hidden = false;
  update();
})();
