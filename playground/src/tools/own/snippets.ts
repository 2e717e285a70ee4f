import { signal } from '@preact/signals'

/** Source code for a tool that the user wrote. */
export interface ToolSnippet {
  name: string
  description: string
  /** JSON Schema for the arguments, as text. */
  schema: string
  /** The body of an async function with an `args` parameter. */
  code: string
}

const place = 'phi-playground-own-tools'
/** Maximum number of tools. */
export const mostTools = 20
/** Maximum characters per field. */
export const mostTextChars = 20_000

/** The tools that new agents get. */
export const toolSnippets = signal<readonly ToolSnippet[]>(readKept())

/** Stores the tools in this browser. */
export function keepSnippets(): void {
  try {
    localStorage.setItem(place, JSON.stringify(toolSnippets.value))
  } catch {
    // Without storage, they exist until the page is closed.
  }
}

function readKept(): ToolSnippet[] {
  try {
    return snippetsFrom(JSON.parse(localStorage.getItem(place) ?? '[]'))
  } catch {
    return []
  }
}

/** Returns the valid snippets in `value`, which is untrusted. */
export function snippetsFrom(value: unknown): ToolSnippet[] {
  return Array.isArray(value) ? value.slice(0, mostTools).flatMap(snippetFrom) : []
}

function snippetFrom(value: unknown): ToolSnippet[] {
  const { name, description, schema, code } = Object(value)
  const texts: unknown[] = [name, description, schema, code]
  return texts.every((text) => typeof text === 'string' && text.length <= mostTextChars) ? [{ name, description, schema, code }] : []
}
