// Stands in for the HiGHS program, with npm's highs (WebAssembly) behind it: reads a model in LP format, writes a solution
// file like HiGHS's.
// usage: node highs.js PACKAGE --time_limit SECONDS --options_file FILE --solution_file FILE MODEL
"use strict";
const fs = require("fs");

const [directory, ...words] = process.argv.slice(2);
const model = words.pop();
const given = {};
for (let i = 0; i < words.length; i += 2) given[words[i]] = words[i + 1];

const options = { output_flag: false, time_limit: Number(given["--time_limit"]) };
for (const line of fs.readFileSync(given["--options_file"], "utf8").split("\n")) {
  const [key, value] = line.split("=").map((word) => word.trim());
  if (value !== undefined) options[key] = Number(value);
}

require(directory)()
  .then((highs) => {
    const result = highs.solve(fs.readFileSync(model, "utf8"), options);
    const lines = ["Model status", result.Status, "", "# Primal solution values"];
    for (const [name, column] of Object.entries(result.Columns))
      if (Number.isFinite(column.Primal)) lines.push(`${name} ${column.Primal}`);
    fs.writeFileSync(given["--solution_file"], lines.join("\n") + "\n");
  })
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
