"use strict";
// Diagrams that one can zoom and follow: what happened before an event and after it is lit. They bring their own tools.
const diagrams = (() => {
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  // ---- a diagram

  const SPEED = 1.25;
  const diagram = (svg, name, more = []) => {
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
    frame.style.maxWidth = `${1.6 * whole[2]}px`;
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
    tool("Clear", "Choose no event", events.letGo);
    tool("Save as SVG", "Save what you see", () => save(svg, whole, view, name));
    for (const [text, title, act] of more) tool(text, title, act);
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

  // The diagram that keys are for: the one around an element, or else the first that is open.
  const near = (at) => at.closest(".case")?.querySelector(".diagram") || document.querySelector(".diagram");
  const press = (event) => {
    const frame = near(event.target);
    const acts = { "+": () => frame?.zoom(SPEED), "-": () => frame?.zoom(1 / SPEED), 0: () => frame?.fit() };
    if (event.key === "Escape") document.querySelectorAll(".diagram").forEach((each) => each.letGo());
    if (acts[event.key]) {
      event.preventDefault();
      acts[event.key]();
    }
  };
  return { element, diagram, press };
})();
