import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { AgentEvent } from 'phi-core'
import { eventDecoder } from 'phi-core/client'

/** Yields the events of a run on a server. Leaving the loop closes the connection, which aborts the run. */
export async function* remoteRun(baseUrl: string, prompt: string, token: string): AsyncGenerator<AgentEvent> {
  const response = await fetch(`${baseUrl}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ prompt }),
  })
  if (!response.ok || response.body === null) throw new Error(`${response.status}: ${await response.text()}`)
  const decoder = eventDecoder() // restores fields that did not change since the previous event
  const frames = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { event, data } of frames) {
    if (event === 'error') throw new Error(data) // the server cannot read the run
    yield decoder.decode(data)
  }
}
