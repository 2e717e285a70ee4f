import { proseHtml } from '../markdown/prose.ts'
import { base64From } from '../parts/base64.ts'
import { sharedOpening } from './shared-page.ts'

const style = `:root{color-scheme:light dark;font:16px/1.55 system-ui,sans-serif}body{max-width:46rem;margin:2rem auto;padding:0 1rem}
pre{overflow-x:auto;padding:.7rem;border:1px solid color-mix(in srgb,currentcolor 20%,transparent);border-radius:6px;white-space:pre-wrap}
h2,h3{margin-top:2rem}blockquote{margin:0;padding-left:1rem;border-left:3px solid color-mix(in srgb,currentcolor 25%,transparent)}
table{border-collapse:collapse}th,td{padding:.2rem .6rem;border:1px solid color-mix(in srgb,currentcolor 25%,transparent)}`

/**
 * Returns a conversation as a single HTML page that works offline and without scripts. It contains the readable conversation, and the
 * complete session for import. Nothing in it can run: model output is limited to the allowed elements, and a content security policy
 * forbids everything else.
 */
export function sessionPage(markdown: string, log: string): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'"
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A conversation</title>
<style>${style}</style>
</head>
<body>
${proseHtml(markdown)}
${sharedOpening}${base64From(log)}</script>
</body>
</html>
`
}
