"use strict";
(() => {
  const say = (text) => { document.getElementById("said").textContent = text; };

  // Sorting: every column heading is a button, and rows without a value stay last. A body with several rows has the mean
  // of some seeds first and is sorted by it, and then the seeds.
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = head.querySelector("button");
      button?.addEventListener("click", () => {
        const isNumber = head.classList.contains("num");
        const first = isNumber ? "descending" : "ascending";
        const other = isNumber ? "ascending" : "descending";
        const direction = head.getAttribute("aria-sort") === first ? other : first;
        heads.forEach((each) => { if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", direction);
        const sign = direction === "ascending" ? 1 : -1;
        const key = (row) => row.cells[column].dataset.sort ?? "";
        const byValue = (one, two) => {
          const [a, b] = [key(one), key(two)];
          if (a === "" || b === "") return (a === "") - (b === "");
          return sign * (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b);
        };
        table.querySelectorAll(".group-head").forEach((each) => each.remove());
        const bodies = [...table.tBodies];
        bodies.forEach((body) => body.append(...[...body.rows].filter((row) => !row.matches(".of-seeds")).sort(byValue)));
        table.append(...bodies.sort((one, two) => byValue(one.rows[0], two.rows[0])));
        say(`Sorted by ${button.textContent}, ${direction}`);
      });
    });
  });

  // Seeds of one setting are folded into their mean; a filter looks at the names of rows and pictures.
  const groups = [...document.querySelectorAll("tbody.seeds")];
  const fold = (body, folded) => {
    body.classList.toggle("folded", folded);
    body.querySelector(".unfold").setAttribute("aria-expanded", String(!folded));
  };
  groups.forEach((body) => {
    fold(body, true);
    body.querySelector(".unfold").addEventListener("click", () => fold(body, !body.classList.contains("folded")));
  });
  const everySeed = document.getElementById("all-seeds");
  everySeed?.setAttribute("aria-pressed", "false");
  everySeed?.addEventListener("click", () => {
    const shown = everySeed.getAttribute("aria-pressed") !== "true";
    everySeed.setAttribute("aria-pressed", String(shown));
    groups.forEach((body) => fold(body, !shown));
  });
  const filter = document.getElementById("filter");
  filter?.addEventListener("input", () => {
    const has = (text) => text.toLowerCase().includes(filter.value.trim().toLowerCase());
    document.querySelectorAll("table.models tbody").forEach((body) => {
      const rows = [...body.rows], members = rows.filter((row) => !row.matches(".of-seeds"));
      members.forEach((row) => { row.hidden = !has(row.cells[0].dataset.sort); });
      rows.filter((row) => row.matches(".of-seeds")).forEach((row) => { row.hidden = members.every((each) => each.hidden); });
    });
    document.querySelectorAll("figure[data-of]").forEach((each) => { each.hidden = !has(each.dataset.of); });
    const left = document.querySelectorAll("#models tbody tr:not(.of-seeds):not([hidden])").length;
    say(`${left} representations`);
  });

  // Scatter plots: a click on a cell of a code and a factor draws them on some rows; the lists choose another pair.
  const points = JSON.parse(document.getElementById("points")?.textContent ?? "null");
  const dialog = document.getElementById("look");
  const SVG = "http://www.w3.org/2000/svg";
  const drawn = (of, code, factor) => {
    const [x, y] = [points.factors[factor], points.codes[of]?.[code]];
    if (!x || !y) return null;
    const values = new Set(x).size; // dots of few values are spread a little, so that they do not hide each other
    const width = values > 12 ? 0 : 0.12 / Math.max(values - 1, 1);
    return x.map((at, k) => [300 * (at * (1 - width) + width * ((0.618 * k) % 1)), 220 - 220 * y[k]]);
  };
  const look = (of, code, factor) => {
    const svg = dialog.querySelector("svg");
    const part = (name, attributes, text) => {
      const made = document.createElementNS(SVG, name);
      Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
      if (text) made.textContent = text;
      svg.append(made);
    };
    svg.replaceChildren();
    const dots = drawn(of, code, factor);
    part("path", { class: "axes", d: "M-6 -6V226H306" });
    part("text", { x: 150, y: 244, "text-anchor": "middle" }, factor);
    part("text", { x: -16, y: 110, "text-anchor": "middle", transform: "rotate(-90 -16 110)" }, code);
    dots.forEach(([cx, cy]) => part("circle", { cx, cy, r: 2.6 }));
    svg.setAttribute("aria-label", `${code} against ${factor}`);
    dialog.querySelector(".remark").textContent = `${dots.length} samples. Codes beyond the 1 % and 99 % quantiles are drawn at the edge.`;
    const choices = dialog.querySelector(".choices");
    const list = (label, options, chosen, pick) => {
      const wrap = document.createElement("label"), select = document.createElement("select");
      options.forEach((name) => select.add(new Option(name, name, false, name === chosen)));
      select.addEventListener("change", () => { pick(select.value); choices.querySelector(`[data-list=${label}]`).focus(); });
      select.dataset.list = label;
      wrap.append(`${label} `, select);
      return wrap;
    };
    const all = Object.keys(points.codes).filter((name) => Object.keys(points.codes[name]).length);
    choices.replaceChildren(
      ...(all.length > 1 ? [list("Representation", all, of, (to) => look(to, code in points.codes[to] ? code : Object.keys(points.codes[to])[0], factor))] : []),
      list("Code", Object.keys(points.codes[of]), code, (to) => look(of, to, factor)),
      list("Factor", Object.keys(points.factors), factor, (to) => look(of, code, to)),
    );
    if (!dialog.open) dialog.showModal();
  };
  const pairOf = (cell) => {
    if (cell.dataset.code) return [cell.dataset.of, cell.dataset.code, cell.dataset.factor];
    const table = cell.closest("table[data-of]");
    return table && [table.dataset.of, cell.parentElement.cells[0].textContent, table.tHead.rows[0].cells[cell.cellIndex].textContent];
  };
  if (points) {
    document.querySelectorAll("table[data-of] tbody td, td[data-code]").forEach((cell) => {
      const pair = pairOf(cell);
      if (drawn(...pair)) cell.classList.add("look"); else cell.classList.remove("look");
    });
    document.addEventListener("click", (event) => {
      const cell = event.target.closest("td.look");
      if (cell) look(...pairOf(cell));
      if (event.target.closest("button.pairs")) {
        const of = Object.keys(points.codes)[0];
        look(of, Object.keys(points.codes[of])[0], Object.keys(points.factors)[0]);
      }
      if (event.target === dialog) dialog.close();
    });
  }

  // Copying: use the clipboard if the browser allows it, then the older command, and otherwise select the text.
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  const copied = async (element) => {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      select(element);
      return document.execCommand("copy");
    }
  };
  document.querySelectorAll("button.copy").forEach((button) => {
    button.addEventListener("click", async () => {
      const done = await copied(document.getElementById(button.dataset.copy)).catch(() => false);
      button.dataset.state = done ? "copied" : "selected";
      button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
      say(button.textContent);
      setTimeout(() => { button.textContent = "Copy"; delete button.dataset.state; }, 2500);
    });
  });

  // Codes are in the given order, or sorted by the factor of their largest cell.
  const toggle = document.getElementById("order-codes");
  const bodies = [...document.querySelectorAll("#matrices table.heat tbody")];
  if (toggle && !bodies.length) toggle.parentElement.hidden = true;
  const given = bodies.map((body) => [...body.rows]);
  const strongest = (row) => {
    const values = [...row.cells].slice(1).map((cell) => Math.abs(parseFloat(cell.textContent.replace("\u2212", "-"))) || 0);
    const top = Math.max(...values);
    return [values.indexOf(top), -top];
  };
  toggle?.addEventListener("click", () => {
    const ordered = toggle.getAttribute("aria-pressed") !== "true";
    toggle.setAttribute("aria-pressed", String(ordered));
    bodies.forEach((body, k) => {
      const rows = given[k].map((row) => [strongest(row), row]);
      if (ordered) rows.sort(([a], [b]) => a[0] - b[0] || a[1] - b[1]);
      body.append(...rows.map(([, row]) => row));
    });
    say(ordered ? "Codes are sorted by their factor" : "Codes are in the given order");
  });

  // Open collapsed blocks before printing, because they cannot be opened on paper, but for tables of every detail.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open]):not(.on-screen)")];
    closed.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
})();
