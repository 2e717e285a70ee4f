import { PartialOutput } from '../base/json/partial-output.ts'
import type { JsonValue } from '../contract/json.ts'
import type { OutputForm } from '../contract/model/request-settings.ts'
import type { AgentEvent } from '../contract/run/event.ts'

/** Yields the response's growing value. */
export async function* partialOutputs(events: AsyncIterable<AgentEvent>, form: () => OutputForm | undefined): AsyncGenerator<JsonValue> {
  const output = new PartialOutput(form)
  let last: JsonValue | undefined
  for await (const event of events) {
    if (!output.take(event)) continue
    const { value } = output
    const isNews = value !== undefined && !Object.is(value, last)
    last = value
    if (isNews) yield value
  }
}

/** Yields the complete elements of the list at `path`. A retried response starts again with its first element. */
export async function* outputElements(
  events: AsyncIterable<AgentEvent>,
  form: () => OutputForm | undefined,
  path: readonly string[],
): AsyncGenerator<JsonValue> {
  const output = new PartialOutput(form)
  let emitted = 0
  let attempt: object | undefined
  for await (const event of events) {
    if (!output.take(event)) continue
    if (output.attempt !== attempt) emitted = 0
    attempt = output.attempt
    const whole = output.elements(path, emitted)
    emitted += whole.length
    yield* whole
  }
}
