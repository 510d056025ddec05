/** Says on stderr why it cannot work, and ends before it hears anything. EXITS_WITH: the code, 1 unless told. */
process.stderr.write("cannot start: no key is set\n");
process.exit(Number(process.env["EXITS_WITH"] ?? 1));
