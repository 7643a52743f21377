"use strict";
(() => {
  const say = (text) => { document.getElementById("said").textContent = text; };

  // Sorting: every column heading is a button, and rows without a value stay last.
  const table = document.getElementById("verdict-table");
  const heads = table ? [...table.tHead.rows[0].cells] : [];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
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
      const body = table.tBodies[0];
      body.querySelectorAll(".group-head").forEach((each) => each.remove());
      body.append(...[...body.rows].sort(byValue));
      say(`Sorted by ${button.textContent}, ${direction}`);
    });
  });

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

  // Open all collapsed blocks before printing, because they cannot be opened on paper.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
})();
