// Highlights code in its own thread, because a grammar may take arbitrarily long for model output.
import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore, type LanguageInput } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import type { CodeToColour, Piece } from './highlight.ts'

const languages: Record<string, () => LanguageInput> = {
  ts: () => import('shiki/langs/typescript.mjs'),
  js: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  bash: () => import('shiki/langs/bash.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
}
const otherNames: Record<string, string> = {
  typescript: 'ts',
  tsx: 'ts',
  javascript: 'js',
  jsx: 'js',
  sh: 'bash',
  shell: 'bash',
  py: 'python',
  rs: 'rust',
  yml: 'yaml',
  jsonc: 'json',
}
let highlighter: Promise<HighlighterCore> | undefined

/** Returns code as lines of colored parts, or `undefined` for an unknown language. */
async function coloured(code: string, name: string): Promise<Piece[][] | undefined> {
  const language = Object.hasOwn(otherNames, name) ? (otherNames[name] ?? name) : name
  const load = Object.hasOwn(languages, language) ? languages[language] : undefined
  if (load === undefined) return undefined
  highlighter ??= createHighlighterCore({ themes: [createCssVariablesTheme()], langs: [], engine: createJavaScriptRegexEngine() })
  const core = await highlighter
  await core.loadLanguage(load())
  const { tokens } = core.codeToTokens(code, {
    lang: language === 'ts' ? 'typescript' : language === 'js' ? 'javascript' : language,
    theme: 'css-variables',
  })
  return tokens.map((line) => line.map(({ content, color }) => ({ text: content, token: tokenOf(color) })))
}

/** `var(--shiki-token-keyword)` gives the class. Colors are in the style sheet, so the page needs no inline styles. */
function tokenOf(color: string | undefined): string {
  return /--shiki-token-([a-z-]+)/.exec(color ?? '')?.[1] ?? 'plain'
}

addEventListener('message', ({ data: { code, language } }: MessageEvent<CodeToColour>) => {
  coloured(code, language).then(postMessage, () => postMessage(undefined))
})
