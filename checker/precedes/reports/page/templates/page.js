"use strict";
// The violations of the report: filters, charts, and diagrams that one can zoom and follow. Texts of a trace are set as
// text and never read as markup; the drawings are made, and escaped, by the program that wrote this page.
(() => {
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
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
    else box.append(...diagram(drawing(one.g), one));
    if (one.m) box.append(element("pre", one.m));
    return box;
  };

  // ---- a diagram

  const SPEED = 1.25;
  const diagram = (svg, one) => {
    const frame = element("div", undefined, "diagram");
    const whole = svg.getAttribute("viewBox").split(" ").map(Number);
    let view = [...whole];
    const apply = () => svg.setAttribute("viewBox", view.join(" "));
    const zoom = (by, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) => {
      view = [x - (x - view[0]) / by, y - (y - view[1]) / by, view[2] / by, view[3] / by];
      apply();
    };
    const fit = () => {
      view = [...whole];
      apply();
    };
    frame.style.aspectRatio = `${whole[2]} / ${whole[3]}`;
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    const told = element("span", "Choose an event to see its past and future.", "soft");
    const events = following(svg, told);
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      zoom(event.deltaY < 0 ? SPEED : 1 / SPEED, at.x, at.y);
    }, { passive: false });
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      if (event.target.closest("[data-e]")) return;
      held = [event.clientX, event.clientY, ...view];
      svg.setPointerCapture(event.pointerId);
      svg.classList.add("held");
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      const scale = svg.getScreenCTM().a;
      view = [held[2] - (event.clientX - held[0]) / scale, held[3] - (event.clientY - held[1]) / scale, view[2], view[3]];
      apply();
    });
    const release = () => {
      held = null;
      svg.classList.remove("held");
    };
    svg.addEventListener("pointerup", release);
    svg.addEventListener("pointercancel", release);
    frame.zoom = zoom;
    frame.fit = fit;
    frame.letGo = events.letGo;
    const tools = element("div", undefined, "tools");
    const tool = (text, title, act) => {
      const made = element("button", text);
      made.type = "button";
      made.title = title;
      made.addEventListener("click", act);
      tools.append(made);
    };
    tool("+", "Zoom in", () => zoom(SPEED));
    tool("−", "Zoom out", () => zoom(1 / SPEED));
    tool("Whole", "Show all of it", fit);
    tool("Let go", "Follow nothing", events.letGo);
    tool("Save as SVG", "Save what you see", () => save(svg, whole, view, `${nameOf(one)}-${one.x}`));
    tools.append(told);
    frame.append(svg);
    return [tools, frame];
  };
  const save = (svg, whole, view, name) => {
    const copy = svg.cloneNode(true);
    copy.setAttribute("width", String(Math.round(whole[2])));
    copy.setAttribute("height", String(Math.round((whole[2] * view[3]) / view[2])));
    const past = { stroke: "#0b62c4", "stroke-width": "2.4" };
    const future = { stroke: "#1b7f4d", "stroke-width": "2.4" };
    const set = (selector, values) => {
      for (const each of copy.querySelectorAll(selector)) {
        for (const [key, value] of Object.entries(values)) each.setAttribute(key, value);
      }
    };
    if (copy.classList.contains("lights")) set("[data-m]:not(.past):not(.future):not(.followed)", { opacity: "0.22" });
    set(".past", past);
    set(".future", future);
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    link.download = `${name.replace(/[^\w.-]+/g, "-")}.svg`;
    link.click();
    URL.revokeObjectURL(link.href);
  };

  // What happened before an event and after it, along lifelines and along messages to their first deliveries.
  const following = (svg, told) => {
    const dots = [...svg.querySelectorAll("[data-e]")];
    const key = (dot) => `${dot.dataset.e} ${dot.dataset.n}`;
    const after = new Map(dots.map((dot) => [key(dot), []]));
    const before = new Map(dots.map((dot) => [key(dot), []]));
    const join = (one, other) => {
      after.get(key(one)).push(other);
      before.get(key(other)).push(one);
    };
    const sends = new Map();
    const arrived = new Set();
    const last = new Map();
    const inOrder = [...dots].sort((a, b) => a.dataset.e - b.dataset.e || a.dataset.n - b.dataset.n);
    for (const dot of inOrder) if (dot.dataset.k === "send") sends.set(dot.dataset.m, dot);
    for (const dot of inOrder) {
      if (last.has(dot.dataset.e)) join(last.get(dot.dataset.e), dot);
      last.set(dot.dataset.e, dot);
      const delivery = `${dot.dataset.e} ${dot.dataset.m}`;
      if (dot.classList.contains("delivery") && sends.has(dot.dataset.m) && !arrived.has(delivery)) {
        arrived.add(delivery);
        join(sends.get(dot.dataset.m), dot);
      }
    }
    const reached = (start, edges) => {
      const found = new Set();
      const waiting = [start];
      while (waiting.length) {
        for (const next of edges.get(key(waiting.pop()))) {
          if (!found.has(next)) {
            found.add(next);
            waiting.push(next);
          }
        }
      }
      return found;
    };
    const letGo = () => {
      svg.classList.remove("lights");
      for (const each of svg.querySelectorAll(".past, .future, .followed, .chosen")) {
        each.classList.remove("past", "future", "followed", "chosen");
      }
      told.textContent = "Choose an event to see its past and future.";
    };
    const follow = (dot) => {
      letGo();
      svg.classList.add("lights");
      const past = reached(dot, before);
      const future = reached(dot, after);
      for (const each of past) each.classList.add("past");
      for (const each of future) each.classList.add("future");
      dot.classList.add("chosen", "followed");
      const at = new Map(dots.filter((each) => each.classList.contains("delivery")).map((each) => [`${each.dataset.e} ${each.dataset.m}`, each]));
      for (const arrow of svg.querySelectorAll(".arrow, .head")) {
        const send = sends.get(arrow.dataset.m);
        const end = at.get(`${arrow.dataset.to} ${arrow.dataset.m}`);
        if (past.has(send) && end && (past.has(end) || end === dot)) arrow.classList.add("past");
        if (end && future.has(end) && (future.has(send) || send === dot)) arrow.classList.add("future");
        if (arrow.dataset.m === dot.dataset.m) arrow.classList.add("followed");
      }
      for (const each of dots) if (dot.dataset.m && each.dataset.m === dot.dataset.m) each.classList.add("followed");
      const lit = new Map(dots.map((each) => [key(each), each]));
      for (const label of svg.querySelectorAll("[data-of]")) {
        const of = lit.get(label.dataset.of);
        label.classList.toggle("followed", past.has(of) || future.has(of) || of.classList.contains("followed"));
      }
      const name = dot.getAttribute("aria-label");
      told.replaceChildren(`${name}: `, element("span", `${past.size} before`, "past-word"), ", ",
        element("span", `${future.size} after`, "future-word"), `, ${dots.length - 1 - past.size - future.size} concurrent`);
    };
    for (const dot of inOrder) {
      dot.setAttribute("tabindex", "0");
      dot.setAttribute("role", "button");
      dot.addEventListener("click", () => follow(dot));
      dot.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          event.stopPropagation();
          follow(dot);
        }
      });
    }
    return { letGo };
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
    const frame = (event.target.closest(".case") || document.querySelector(".case[open]"))?.querySelector(".diagram");
    if (event.key === "Escape") {
      if (typing) event.target.blur();
      document.querySelectorAll(".diagram").forEach((each) => each.letGo());
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = {
      "/": () => fields.search.focus(),
      j: () => go(1),
      k: () => go(-1),
      "+": () => frame?.zoom(SPEED),
      "-": () => frame?.zoom(1 / SPEED),
      0: () => frame?.fit(),
    };
    if (acts[event.key]) {
      event.preventDefault();
      acts[event.key]();
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
