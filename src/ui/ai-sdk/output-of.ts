import { PartialOutput } from '../../base/json/partial-output.ts'
import type { JsonValue } from '../../contract/json.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'

/** The fields of a `useChat` message that `outputOf` reads. Accepts the AI SDK's `UIMessage` and `UiMessage`. */
export interface WithText {
  readonly parts: readonly { readonly type: string }[]
  readonly metadata?: unknown
}

/**
 * Returns a message's structured response as a value, even while it streams. Call it on each render.
 *
 * **Contract**
 * - Equals `run.partial()`: not validated, and unwrapped if the schema's root is not an object. `undefined` before the first text, and if
 *   the run did not request JSON.
 * - Reads the form from `metadata.output`, set by the stream and `toUiMessages`.
 * - Reads the text of the last step.
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

/** Third-party metadata has no `output`. */
function formIn(metadata: unknown): OutputForm | undefined {
  const { output }: { output?: unknown } = Object(metadata)
  if (typeof output !== 'object' || output === null) return undefined
  const { property }: { property?: unknown } = output
  return typeof property === 'string' ? { property } : {}
}
