import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { AgentEvent } from 'phi-core'

/** The events of a run on a server, as they arrive. Leaving the loop closes the connection, which aborts the run. */
export async function* remoteRun(baseUrl: string, prompt: string, token: string): AsyncGenerator<AgentEvent> {
  const response = await fetch(`${baseUrl}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ prompt }),
  })
  if (!response.ok || response.body === null) throw new Error(`${response.status}: ${await response.text()}`)
  const frames = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const frame of frames) {
    const data: AgentEvent | { code: string; message: string } = JSON.parse(frame.data)
    if (!('type' in data)) throw new Error(data.message) // `event: error`: the server could not read its run on
    yield data
  }
}
