// SPDX-License-Identifier: GPL-2.0-only
// Prints the rows of a file or stream of Apache Arrow, as Arrow's own library reads them, in the form of arrow.py.
//
//	node arrow.mjs LIBRARY PATH
import fs from "node:fs";
import { createRequire } from "node:module";

const arrow = createRequire(process.argv[2] + "/")("apache-arrow");
const table = arrow.tableFromIPC(fs.readFileSync(process.argv[3]));
const { DataType } = arrow;

function typeName(type) {
	if (DataType.isInt(type))
		return (type.isSigned ? "int" : "uint") + type.bitWidth;
	if (DataType.isUtf8(type))
		return "utf8";
	return DataType.isTimestamp(type) ? "timestamp" + type.unit + " " + type.timezone : String(type);
}

// Times of the library are in milliseconds, and lose digits.
function value(column, row) {
	if (!column.isValid(row))
		return null;
	if (DataType.isTimestamp(column.type))
		return String(column.data[0].values[row]);
	return String(column.get(row));
}

console.log(JSON.stringify(table.schema.fields.map((field) => [field.name, typeName(field.type)])));
for (const batch of table.batches) {
	const columns = table.schema.fields.map((field) => batch.getChild(field.name));
	for (let row = 0; row < batch.numRows; row++)
		console.log(JSON.stringify(columns.map((column) => value(column, row))));
}
