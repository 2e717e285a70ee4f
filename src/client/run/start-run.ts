import { errorText } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ClientToolDeclaration } from '../../contract/model/request-settings.ts'
import type { ChatOptions } from '../../types/run/chat-agent.ts'
import type { OutgoingPrompt } from '../outgoing-prompt.ts'
import { codeOf, RemoteError } from '../remote-error.ts'
import type { SessionFeed } from '../session-feed.ts'
import type { EventStream } from '../wire/event-stream.ts'
import type { Wire } from '../wire/wire.ts'
import type { RemoteRun } from './remote-run.ts'

/** Input and start point of a run. */
export interface Beginning {
  path: string
  body?: JsonObject
  outgoing?: OutgoingPrompt
}

/** Builds the request that starts a run, from its input, start point, settings and client tools. */
export function bodyOf(
  { body, outgoing }: Beginning,
  { metadata, model, tools, thinking, ...settings }: Omit<ChatOptions, 'signal'>,
  { place, clientTools }: { place: string | undefined; clientTools: readonly ClientToolDeclaration[] },
): JsonObject {
  return JSON.parse(
    JSON.stringify({
      ...body,
      ...{ from: place, model, tools, thinking },
      ...(Object.keys(settings).length > 0 && { settings }),
      ...(clientTools.length > 0 && { clientTools }),
      ...(outgoing !== undefined && { prompt: outgoing.prompt, metadata }),
    }),
  )
}

/** A run that is starting, and its request. */
export interface Start {
  run: RemoteRun
  path: string
  body: JsonObject
  /** The idempotency key of the request. */
  key: string
  wire: Wire
  feed: SessionFeed
  /** Called with the loop id if an earlier attempt has already started the run. */
  adopted(loopId: string): void
}

/**
 * Sends the start request, with retries, until the server responds with the first events or the loop id. If all attempts fail or the run is
 * stopped in between, ends the run as rejected.
 */
export async function startRun(start: Start): Promise<void> {
  const { run, wire, feed } = start
  // Wait a tick, so that the caller can subscribe or stop the run first.
  await undefined
  if (run.stopped.aborted) return run.refuse(undefined)
  const since = feed.connection
  for (let failures = 1; !run.hasEnded; failures++) {
    try {
      return await startOnce(start, since)
    } catch (error) {
      await wire
        .pause(failures, error, run.stopped)
        .catch((final: unknown) => run.refuse({ code: codeOf(final), message: errorText(final) }))
      // No event from the run has arrived. If an attempt started the run anyway, it appears as another client's run.
      if (run.stopped.aborted && !run.hasEnded) run.refuse(undefined)
    }
  }
}

async function startOnce({ run, path, body, key, wire, feed, adopted }: Start, since: EventStream | undefined): Promise<void> {
  let stream: EventStream | undefined
  try {
    stream = await wire.stream({ method: 'POST', path, key, body })
    const batch = await stream.next()
    if (batch === undefined) throw new RemoteError('connectionLost', 'The response ended before the first event.', { isRetryable: true })
    for (const event of batch) run.accept(event)
    feed.readOn(stream, since)
  } catch (error) {
    stream?.close()
    // An earlier attempt was accepted, and the server has restarted since.
    if (!RemoteError.isInstance(error) || error.code !== 'gone' || error.loopId === undefined) throw error
    run.adopt(error.loopId)
    adopted(error.loopId)
    feed.reopen()
  }
}
