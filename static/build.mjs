// Builds the front end into static/dist: one style sheet, one script for every
// page and one for the pages that edit. Run it with `npm run build`.
import { execFileSync } from "node:child_process";
import { brotliCompressSync, gzipSync, constants } from "node:zlib";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "static", "dist");
const run = (cmd, args) => execFileSync(cmd, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });

function empty() {
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist)) {
    if (name !== ".gitkeep") rmSync(join(dist, name), { recursive: true });
  }
}

function styles() {
  const cli = join("node_modules", "@tailwindcss", "cli", "dist", "index.mjs");
  const raw = join(dist, "app.raw.css");
  run(process.execPath, [cli, "--input", "static/css/app.css", "--output", raw]);
  // esbuild minifies and keeps light-dark() as written; Tailwind's own
  // optimizer would replace it by two variables per colour.
  esbuild([raw, `--outfile=${join(dist, "app.css")}`, "--legal-comments=inline"]);
  rmSync(raw);
}

function scripts() {
  for (const name of ["app", "editor"]) {
    esbuild([`static/src/${name}.js`, `--outfile=${join(dist, name + ".js")}`, "--bundle", "--format=esm", "--target=es2022", "--legal-comments=linked"]);
  }
}

function esbuild(args) {
  const common = ["--minify", "--log-level=warning"];
  run("go", ["tool", "-modfile=tools.mod", "esbuild", ...args, ...common]);
}

// The server sends these as they are, so the best level costs nobody time.
function compress() {
  for (const name of readdirSync(dist)) {
    if (!/\.(css|js|svg)$/.test(name)) continue;
    const body = readFileSync(join(dist, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
    writeFileSync(join(dist, name + ".br"), brotliCompressSync(body, { params }));
    writeFileSync(join(dist, name + ".gz"), gzipSync(body, { level: 9 }));
  }
}

empty();
styles();
scripts();
cpSync(join(root, "static", "img"), dist, { recursive: true });
compress();
