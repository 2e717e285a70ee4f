import { type AgentTool, defineTool, type JsonObject } from '../../../../src/index.ts'
import { errorText } from '../../parts/error-text.ts'
import { runInFrame } from './run-in-frame.ts'
import type { ToolSnippet } from './snippets.ts'

/** After so long a call is ended. */
const longestCallMs = 10_000

/** The tools of these snippets, in addition to `others`. Each call needs an approval. Throws for an invalid tool, and for a used name. */
export function ownTools(snippets: readonly ToolSnippet[], others: readonly AgentTool[] = []): AgentTool[] {
  const taken = new Set(others.map(({ name }) => name))
  return snippets.map((snippet) => {
    if (taken.has(snippet.name)) throw new Error(`There are two tools with the name ${snippet.name}.`)
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
    throw new Error(`The schema of ${name} is no JSON: ${errorText(error)}`)
  }
}
