import { PartialOutput } from '../../base/json/partial-output.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'

/** What is read of a message of `useChat`; those of its `UIMessage` and of our `UiMessage` are such. */
export interface WithText {
  readonly parts: readonly { readonly type: string }[]
  readonly metadata?: unknown
}

/**
 * The answer in a message as a value, as far as it is written: call it each time the message is shown.
 *
 * **Contract**
 * - As `run.partial()` gives it, not checked, and taken out of the property that holds an answer which is no object. `undefined` where nothing was said yet,
 *   and where the run did not ask for JSON.
 * - `form` is what the stream, or `toUiMessages`, said in `metadata.output`.
 * - If an answer has several steps, the last one counts. Reads all of its text.
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
