import { errorText } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ClientToolDeclaration } from '../../contract/model/request-settings.ts'
import type { ChatOptions } from '../../types/run/chat-agent.ts'
import { codeOf, RemoteError } from '../remote-error.ts'
import type { Said } from '../said.ts'
import type { SessionFeed } from '../session-feed.ts'
import type { EventStream } from '../wire/event-stream.ts'
import type { Wire } from '../wire/wire.ts'
import type { RemoteRun } from './remote-run.ts'

/** What a run begins with, and where. */
export interface Beginning {
  path: string
  body?: JsonObject
  said?: Said
}

/** What the server is told of a run that begins: what is said, from where it goes on, what is asked of it, and which tools its page has. */
export function bodyOf(
  { body, said }: Beginning,
  { metadata, model, tools, thinking, ...settings }: Omit<ChatOptions, 'signal'>,
  { place, clientTools }: { place: string | undefined; clientTools: readonly ClientToolDeclaration[] },
): JsonObject {
  return JSON.parse(
    JSON.stringify({
      ...body,
      ...{ from: place, model, tools, thinking },
      ...(Object.keys(settings).length > 0 && { settings }),
      ...(clientTools.length > 0 && { clientTools }),
      ...(said !== undefined && { prompt: said.prompt, metadata }),
    }),
  )
}

/** A run that begins, and what it takes to tell the server. */
export interface Start {
  run: RemoteRun
  path: string
  body: JsonObject
  /** Under which the server knows it, however often it is sent. */
  key: string
  wire: Wire
  feed: SessionFeed
  /** It is this loop, which an earlier attempt has begun. */
  adopted(loopId: string): void
}

/** Sends what begins the run until the server has said what came of it: its first events, or the loop that it is; else, or when it is stopped between two attempts, the run is refused. */
export async function startRun(start: Start): Promise<void> {
  const { run, wire, feed } = start
  // Whoever begins it may subscribe, and stop it, first.
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
      // Nothing of it was heard. Where an attempt has begun it all the same, that is told as a run of somebody else.
      if (run.stopped.aborted && !run.hasEnded) run.refuse(undefined)
    }
  }
}

async function startOnce({ run, path, body, key, wire, feed, adopted }: Start, since: EventStream | undefined): Promise<void> {
  let stream: EventStream | undefined
  try {
    stream = await wire.stream({ method: 'POST', path, key, body })
    const batch = await stream.next()
    if (batch === undefined) throw new RemoteError('connectionLost', 'The answer ended before the first event.', { isRetryable: true })
    for (const event of batch) run.accept(event)
    feed.readOn(stream, since)
  } catch (error) {
    stream?.close()
    // An earlier attempt was accepted, and the server restarted since.
    if (!RemoteError.isInstance(error) || error.code !== 'gone' || error.loopId === undefined) throw error
    run.adopt(error.loopId)
    adopted(error.loopId)
    feed.reopen()
  }
}
