import { signal } from '@preact/signals'
import type { TokenizerAndRendererExtension } from 'marked'

type Renderer = typeof import('./math-renderer.ts').mathMl

/** The formula renderer, loaded on first use. Until then, the source is shown. */
export const mathRenderer = signal<Renderer | undefined>(undefined)
let isLoading = false

/**
 * Delimiters for formulas: one or two dollar signs, or a bracket after a backslash. A dollar sign before a space, a closing one before a
 * digit, and one before a number and a word mean money.
 */
const forms: readonly { pattern: RegExp; isBlock: boolean }[] = [
  { pattern: /^\$\$((?:\\.|[^\\$]){1,4000}?)\$\$/s, isBlock: true },
  { pattern: /^\\\[(.{1,4000}?)\\\]/s, isBlock: true },
  { pattern: /^\\\((.{1,1000}?)\\\)/s, isBlock: false },
  { pattern: /^\$(?![\s$]|\d[\d.,]*\s+[a-z])((?:\\.|[^\\$`\n]){1,400}?)(?<!\s)\$(?!\d)/i, isBlock: false },
]

/** Formulas in TeX. `toText` escapes HTML. */
export function mathExtension(toText: (text: string) => string): TokenizerAndRendererExtension {
  return {
    name: 'math',
    level: 'inline',
    start: (text) => {
      const at = text.search(/\$|\\[([]/)
      return at < 0 ? undefined : at
    },
    tokenizer(text) {
      for (const { pattern, isBlock } of forms) {
        const found = pattern.exec(text)
        if (found !== null) return { type: 'math', raw: found[0], source: found[1], isBlock }
      }
      return undefined
    },
    renderer({ raw, source, isBlock }) {
      if (mathRenderer.value === undefined) load()
      return mathRenderer.value?.(String(source), isBlock === true) ?? `<code>${toText(raw)}</code>`
    },
  }
}

function load(): void {
  if (isLoading) return
  isLoading = true
  import('./math-renderer.ts').then(
    ({ mathMl }) => {
      mathRenderer.value = mathMl
    },
    () => {
      isLoading = false
    },
  )
}
