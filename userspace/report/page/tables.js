/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables.js - sorting and filtering of tables.
 */
const UNITS = { us: 1e3, ms: 1e6, s: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, "%": 1, "": 1 };

/* The number in a cell such as "1.20 ms"; of other text, null. */
function quantityOf(text) {
	const match = /^([-+]?[0-9.]+) ?(us|ms|s|KiB|MiB|GiB|TiB|%|)$/.exec(text.trim());

	return match ? parseFloat(match[1]) * UNITS[match[2]] : null;
}

function sortTable(table, column, isDescending) {
	const body = table.tBodies[0], rows = [...body.rows];
	const keys = new Map(rows.map(row => [row, row.cells[column] ? row.cells[column].textContent : ""]));

	rows.sort((a, b) => {
		const [x, y] = [quantityOf(keys.get(a)), quantityOf(keys.get(b))];
		const order = x !== null && y !== null ? x - y : x !== null ? 1 : y !== null ? -1 :
			keys.get(a).localeCompare(keys.get(b), undefined, { numeric: true });

		return isDescending ? -order : order;
	});
	rows.forEach(row => body.appendChild(row));
	[...table.tHead.rows[0].cells].forEach((cell, i) => {
		if (i === column)
			cell.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
		else
			cell.removeAttribute("aria-sort");
	});
}

/* The first click on a column of numbers shows the largest first. */
function makeSortable(table) {
	[...table.tHead.rows[0].cells].forEach((cell, column) => {
		const text = cell.textContent;

		cell.textContent = "";
		put(cell, "button", { type: "button" }, text).addEventListener("click", () => {
			const state = cell.getAttribute("aria-sort"), first = table.tBodies[0].rows[0];
			const areNumbers = first && first.cells[column] && quantityOf(first.cells[column].textContent) !== null;

			sortTable(table, column, state ? state === "ascending" : areNumbers);
		});
	});
}

function makeFilter(table) {
	const tools = document.createElement("div");
	const input = put(tools, "input", { type: "search", placeholder: "filter rows", "aria-label": "filter rows" });

	tools.className = "tools";
	table.parentElement.before(tools);
	input.addEventListener("input", () => {
		const words = input.value.toLowerCase();

		for (const row of table.tBodies[0].rows)
			row.hidden = !row.textContent.toLowerCase().includes(words);
	});
}
