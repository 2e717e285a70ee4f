import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { escapeControls } from '../../../src/store.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { scrollable } from '../parts/scrollable.ts'
import { highlighted, type Piece } from './highlight.ts'

interface CodeBlockProps {
  code: string
  language: string
  /** Whether the code may still grow. Code is highlighted once it is complete. */
  isGrowing: boolean
}

/** Diagram languages. A library that renders them would be ten times the size of this page. */
const diagrams = /^(?:mermaid|plantuml|dot|graphviz|d2)$/i

/** Code with its language, a copy button, and syntax highlighting that loads on first use. */
export function CodeBlock({ code, language, isGrowing }: CodeBlockProps) {
  const lines = useSignal<Piece[][] | undefined>(undefined)
  useEffect(() => {
    lines.value = undefined
    if (isGrowing || language === '') return
    let isCurrent = true
    highlighted({ code, language }).then((found) => {
      if (isCurrent) lines.value = found
    })
    return () => {
      isCurrent = false
    }
  }, [code, language, isGrowing])

  return (
    <figure class="code">
      <figcaption>
        <span>
          {language || 'text'}
          {diagrams.test(language) && ' · a diagram: this page shows its source and does not draw it'}
        </span>
        <CopyButton label="Copy the code" text={() => code} />
      </figcaption>
      <pre {...scrollable}>
        <code>{lines.value === undefined ? escapeControls(code) : lines.value.map(lineOf)}</code>
      </pre>
    </figure>
  )
}

function lineOf(line: readonly Piece[], at: number, lines: readonly Piece[][]) {
  return (
    <span key={at}>
      {line.map(({ text, token }, index) => (
        <span key={index} class={`token-${token}`}>
          {escapeControls(text)}
        </span>
      ))}
      {at < lines.length - 1 && '\n'}
    </span>
  )
}
