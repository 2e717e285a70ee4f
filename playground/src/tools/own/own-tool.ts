import { type AgentTool, defineTool, type JsonObject } from '../../../../src/index.ts'
import { errorText } from '../../parts/error-text.ts'
import { runInFrame } from './run-in-frame.ts'
import type { ToolSnippet } from './snippets.ts'

/** Timeout per call in milliseconds. */
const longestCallMs = 10_000

/**
 * Creates the tools for these snippets, in addition to `others`. Each call requires approval. Throws for an invalid tool or a duplicate
 * name.
 */
export function ownTools(snippets: readonly ToolSnippet[], others: readonly AgentTool[] = []): AgentTool[] {
  const taken = new Set(others.map(({ name }) => name))
  return snippets.map((snippet) => {
    if (taken.has(snippet.name)) throw new Error(`Two tools are named ${snippet.name}.`)
    taken.add(snippet.name)
    return ownTool(snippet)
  })
}

function ownTool({ name, description, schema, code }: ToolSnippet): AgentTool {
  return defineTool<JsonObject>({
    ...{ name, description, parameters: schemaFrom(name, schema), needsApproval: true, timeoutMs: longestCallMs },
    execute: (args, { signal }) => runInFrame(code, args, signal),
  })
}

function schemaFrom(name: string, text: string): JsonObject {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`The schema of ${name} is not JSON: ${errorText(error)}`)
  }
}
