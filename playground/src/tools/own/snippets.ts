import { signal } from '@preact/signals'

/** A tool that a visitor wrote, as it was written. */
export interface ToolSnippet {
  name: string
  description: string
  /** JSON Schema of the arguments, as text. */
  schema: string
  /** The body of an async function of `args`. */
  code: string
}

const place = 'phi-playground-own-tools'
/** Tools that there may be. */
export const mostTools = 20
/** Characters of each of their texts. */
export const mostTextChars = 20_000

/** Those that agents get from now on. */
export const toolSnippets = signal<readonly ToolSnippet[]>(readKept())

/** Keeps them in this browser. */
export function keepSnippets(): void {
  try {
    localStorage.setItem(place, JSON.stringify(toolSnippets.value))
  } catch {
    // A browser without storage has them until the page is closed.
  }
}

function readKept(): ToolSnippet[] {
  try {
    return snippetsFrom(JSON.parse(localStorage.getItem(place) ?? '[]'))
  } catch {
    return []
  }
}

/** Those that `value`, which may be of anybody, has. */
export function snippetsFrom(value: unknown): ToolSnippet[] {
  return Array.isArray(value) ? value.slice(0, mostTools).flatMap(snippetFrom) : []
}

function snippetFrom(value: unknown): ToolSnippet[] {
  const { name, description, schema, code } = Object(value)
  const texts: unknown[] = [name, description, schema, code]
  return texts.every((text) => typeof text === 'string' && text.length <= mostTextChars) ? [{ name, description, schema, code }] : []
}
