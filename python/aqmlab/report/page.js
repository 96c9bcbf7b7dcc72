// The page works without this: it sorts tables by a click on a column, and opens what a link leads to.
for (const table of document.querySelectorAll("table.sorts")) {
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim().replace(/\u2212/g, "-").replace(/,/g, "");
    const number = parseFloat(text);
    return Number.isNaN(number) ? text : number;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.tabIndex = 0;
    head.title = "Sort";
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down === 1 ? "ascending" : "descending");
      const order = (a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
        return down * (x < y ? -1 : x > y ? 1 : 0);
      };
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
}
const reveal = () => {
  const found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = found; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (found) found.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();
