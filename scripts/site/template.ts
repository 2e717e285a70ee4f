import { escapeHtml, type Rendered } from './markdown.ts'

/** What stands around a page. */
export interface Frame {
  title: string
  description: string
  path: string
  /** The list of pages, the current one marked. */
  nav: { title: string; pages: { path: string; title: string }[] }[]
  previous?: { path: string; title: string } | undefined
  next?: { path: string; title: string } | undefined
}

/** From a page to the root of the site: the site may stand in any folder. */
export const rootOf = (path: string): string => '../'.repeat(path.split('/').length - 1) || './'

function head({ title, description, path }: Pick<Frame, 'title' | 'description' | 'path'>): string {
  const root = rootOf(path)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(description)}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%233730a3'/%3E%3Ctext x='16' y='23' font-size='20' text-anchor='middle' fill='white' font-family='serif'%3Eφ%3C/text%3E%3C/svg%3E">
<script type="module" src="${root}client/main.ts"></script>
</head>
<body data-root="${root}">
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
  <button type="button" class="menu" data-menu aria-expanded="false" aria-controls="pages">Pages</button>
  <a class="brand" href="${root}index.html"><span aria-hidden="true">φ</span> phi-core</a>
  <nav class="links" aria-label="Main">
    <a href="${root}start/script.html">Get started</a>
    <a href="${root}api/core.html">API</a>
    <a href="${root}playground.html">Playground</a>
  </nav>
  <button type="button" class="find" data-find aria-label="Search"><span>Search</span><kbd>/</kbd></button>
  <button type="button" class="theme" data-theme-button aria-label="Change the colours">◐</button>
</header>`
}

const foot = `<dialog class="search" aria-label="Search" data-search>
  <form method="dialog"><input type="search" placeholder="Search the documentation" aria-label="Search the documentation" autocomplete="off" data-query><button aria-label="Close">Esc</button></form>
  <p class="status" role="status" data-status>Type a word.</p>
  <ol data-results></ol>
</dialog>
</body>
</html>
`

/** A page of text with the list of pages and what is on it. */
export function documentPage(frame: Frame, { html, outline }: Rendered): string {
  const root = rootOf(frame.path)
  const link = ({ path, title }: { path: string; title: string }) =>
    `<li><a href="${root}${path}.html"${path === frame.path ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`
  const groups = frame.nav
    .map(({ title, pages }) => {
      const isOpen = pages.some(({ path }) => path === frame.path)
      return `<details${isOpen ? ' open' : ''}><summary>${title}</summary><ul>${pages.map(link).join('')}</ul></details>`
    })
    .join('\n')
  const step = (label: string, to: Frame['next'], rel: string) =>
    to === undefined ? '<span></span>' : `<a rel="${rel}" href="${root}${to.path}.html"><small>${label}</small>${escapeHtml(to.title)}</a>`
  const inside = outline.map(({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`).join('')
  return `${head(frame)}
<div class="layout">
<nav id="pages" class="pages" aria-label="Pages">${groups}</nav>
<main id="content" class="prose">
${html}
<nav class="steps" aria-label="Next pages">${step('Before', frame.previous, 'prev')}${step('Next', frame.next, 'next')}</nav>
</main>
<aside class="outline" aria-label="On this page">${inside === '' ? '' : `<p>On this page</p><ul>${inside}</ul>`}</aside>
</div>
${foot}`
}

/** The first page: what it is, a program, and where to go. */
export function landingPage(program: string, features: readonly { title: string; text: string; to: string }[]): string {
  const cards = features
    .map(
      ({ title, text, to }) => `<li><a href="./${to}.html"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(text)}</span></a></li>`,
    )
    .join('\n')
  const title = 'phi-core: an SDK for LLM agents in TypeScript'
  const description = 'One loop that prompts a model, runs its tools and streams the answer. In browsers, Workers, Deno, Bun and Node.'
  return `${head({ title, description, path: 'index' })}
<main id="content" class="landing">
<section class="hero">
  <div>
    <h1>Agents in TypeScript, in every runtime</h1>
    <p class="lead">One loop prompts a model, runs its tools and streams the answer. The same code runs in browsers, Workers, Deno, Bun and Node.</p>
    <p class="actions"><a class="button" href="./start/script.html">Get started</a> <a class="button quiet" href="./playground.html">Try it in this page</a></p>
    <p class="runs">Anthropic · OpenAI · Gemini · Bedrock · Azure · Ollama and compatible servers</p>
  </div>
  ${program}
</section>
<ul class="cards">
${cards}
</ul>
<section class="shots">
  <figure><img src="./images/playground-light.webp" alt="An agent in the playground, with the trace of its turns" width="1440" height="900"><figcaption>The playground shows each turn: what was said, how long it took, what it cost.</figcaption></figure>
</section>
</main>
${foot}`
}

/** The playground in a page of the site. */
export function playgroundPage(): string {
  const title = 'Playground · phi-core'
  const description = 'An agent in this page, with a scripted model: nothing leaves the browser.'
  return `${head({ title, description, path: 'playground' })}
<main id="content" class="embed">
<h1>Playground</h1>
<p>An agent runs in this page. Its model is scripted until you choose another one, so that nothing leaves the browser. <a href="./reference/playground.html">What each part shows</a> · <a href="./playground/index.html">Open it alone</a></p>
<iframe src="./playground/index.html" title="The playground: an agent in a page"></iframe>
</main>
${foot}`
}
