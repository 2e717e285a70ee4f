import { parseArguments } from '../../../base/json/call-arguments.ts'
import { jsonObjectsIn } from '../../../contract/json.ts'
import type { Citation, ProviderState } from '../../../contract/message/content.ts'
import { isBase64 } from '../../../contract/message/media.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import type { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { shownOutput } from '../../kit/optional/server-tools/service-output.ts'

const knownOfTools: ReadonlySet<string> = new Set([
  ...['index', 'type', 'name', 'id', 'arguments', 'output', 'search_results', 'code_results', 'browser_results'],
])

/**
 * Collects the tools that Groq ran: calls with results, generated images, and search results.
 *
 * Source: docs/providers/openai.md
 */
export class ExecutedTools {
  readonly #builder: AssistantBuilder
  readonly #state: ProviderState
  readonly #unknown: UnknownFields
  readonly #calls = new Map<number, Record<string, unknown>>()

  constructor(builder: AssistantBuilder, state: ProviderState, unknown: UnknownFields) {
    this.#builder = builder
    this.#state = state
    this.#unknown = unknown
  }

  /** Number of tools. */
  get size(): number {
    return this.#calls.size
  }

  /** Adds a call. The provider reports each call twice: at its start, and with its result. */
  add(wire: Record<string, unknown>): void {
    this.#unknown.look(wire, knownOfTools)
    const index = typeof wire.index === 'number' ? wire.index : this.#calls.size
    const known = { ...this.#calls.get(index), ...wire }
    this.#calls.set(index, known)
    const { type, arguments: args } = known
    const read = typeof args === 'string' ? parseArguments(args) : undefined
    const output = outputOf(known)
    this.#builder.serviceTool({
      ...{ type: 'serviceTool', id: idOf(index), name: typeof type === 'string' ? type : 'tool' },
      ...(read !== undefined && read.fault === undefined && { input: read.arguments }),
      status: output === undefined ? 'running' : 'done',
      ...(output !== undefined && { output }),
      providerState: this.#state,
    })
    for (const [at, { png }] of jsonObjectsIn(wire.code_results).entries()) this.#picture(`picture of tool ${index} ${at}`, png)
  }

  #picture(key: string, data: unknown): void {
    if (typeof data !== 'string' || data === '') return
    if (isBase64(data)) this.#builder.whole(key, { type: 'image', mimeType: 'image/png', data })
    else this.#builder.warn('The provider sent an image from code execution with invalid bytes. The image was dropped.')
  }

  /** Returns the search results. */
  sources(): Citation[] {
    return [...this.#calls.values()].flatMap(({ search_results: found }) =>
      jsonObjectsIn(Object(found).results).flatMap(({ url, title, content }): Citation[] => {
        if (typeof url !== 'string') return []
        const cited = typeof content === 'string' && content !== '' ? { citedText: content } : {}
        return [{ url, ...(typeof title === 'string' && { title }), ...cited }]
      }),
    )
  }
}

function idOf(index: number): string {
  return `executed-${index}`
}

/** Returns the output to display: text and other fields. Images are separate blocks. */
function outputOf({ output, code_results: code, browser_results: pages }: Record<string, unknown>) {
  const results = jsonObjectsIn(code).flatMap(({ png: _png, text, ...rest }) => {
    const result = { ...(text !== output && text !== undefined && { text }), ...rest }
    return Object.keys(result).length > 0 ? [result] : []
  })
  const details = [...results, ...jsonObjectsIn(pages)]
  if (details.length === 0) return shownOutput(output)
  return shownOutput(typeof output === 'string' && output.trim() !== '' ? [output, ...details] : details)
}
