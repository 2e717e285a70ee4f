import { PartialOutput } from '../../base/json/partial-output.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'

/** The part of a `useChat` message that `outputOf` reads: a `UIMessage` or our `UiMessage`. */
export interface WithText {
  readonly parts: readonly { readonly type: string }[]
  readonly metadata?: unknown
}

/**
 * Returns the response of a message as a value, while it is streamed. Call it on each render.
 *
 * **Contract**
 * - Equals `run.partial()`: not validated, and unwrapped from the property that holds a non-object. `undefined` before the first
 *   text, and if the run did not ask for JSON.
 * - `form` is `metadata.output` of the stream or of `toUiMessages`.
 * - If a response has several steps, the last one counts. Reads all of its text.
 *
 * Source: docs/guides/structured-output.md
 *
 * @example
 * ```tsx
 * const plan = outputOf(message) as DeepPartial<Plan> | undefined
 * ```
 */
export function outputOf(message: WithText, form: OutputForm | undefined = formIn(message.metadata)): JsonValue | undefined {
  if (form === undefined) return undefined
  const step = message.parts.findLastIndex(({ type }) => type === 'step-start')
  const output = new PartialOutput(() => form)
  output.read(message.parts.slice(step + 1).map((part) => (part.type === 'text' && 'text' in part ? String(part.text) : '')))
  return output.value
}

/** Other metadata than ours has none. */
function formIn(metadata: unknown): OutputForm | undefined {
  const { output }: { output?: unknown } = Object(metadata)
  if (typeof output !== 'object' || output === null) return undefined
  const { property }: { property?: unknown } = output
  return typeof property === 'string' ? { property } : {}
}
