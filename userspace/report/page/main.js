/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.js - contents, tables and charts of the page.
 */
function contents() {
	const list = put(document.getElementById("contents"), "ul"), isSingle = DATA.runs.length === 1;
	let count = 0;

	for (const heading of document.querySelectorAll(isSingle ? "h3, #omissions h2" : "h2")) {
		const section = heading.parentElement;

		section.id = section.id || "section-" + count++;
		put(put(list, "li"), "a", { href: "#" + section.id }, heading.textContent);
	}
}

for (const run of DATA.runs)
	for (const figure of document.querySelectorAll("figure[data-chart]"))
		if (figure.dataset.run === undefined ? run === DATA.runs[0] : DATA.runs[figure.dataset.run] === run)
			charts[figure.dataset.chart](figure, run);
for (const table of document.querySelectorAll("table.sortable")) {
	makeSortable(table);
	if (table.tBodies[0].rows.length > 15)
		makeFilter(table);
}
contents();
