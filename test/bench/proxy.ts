// npm run bench proxy: bytes per second through the model proxy as a ratio to a bare pipe on the same server, in the same run.

import { createServer } from 'node:http'
import { createModelProxy } from '../../adapters/http/index.ts'
import { type FetchHandler, serve } from '../harness/serve.ts'
import { openai } from '../harness/server/openai.ts'

const samples = 9
const megabytes = 64
const words = ['the ', 'rain', ' in ', 'Oslo', ', as ', 'ever', ';\n', 'naïve ', '"quoted" ', '雨 ']
const turn = { text: Array.from({ length: 4000 }, (_, index) => `${words[index % words.length]}${index % 97}`) }
const answer = Buffer.concat(openai.frames(turn).map((frame) => Buffer.from(frame)))
const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"model":"m","messages":[]}' }

/** Sends the answer again and again, in chunks of `size`, as fast as it is taken. */
async function upstream(size: number) {
  const server = createServer(async (incoming, response) => {
    incoming.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let sent = 0; sent < (megabytes << 20) / (size < 1024 ? 16 : 1); ) {
      for (let at = 0; at < answer.length; at += size) {
        const chunk = answer.subarray(at, at + size)
        sent += chunk.length
        if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve))
      }
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

/** Bytes per second of one whole answer. */
async function speed(url: string): Promise<number> {
  const from = performance.now()
  const response = await fetch(url, request)
  let bytes = 0
  for await (const chunk of response.body ?? []) bytes += chunk.byteLength
  return (bytes / (performance.now() - from)) * 1000
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const shown = (bytesPerSecond: number): string => `${(bytesPerSecond / 2 ** 20).toFixed(0).padStart(5)} MiB/s`

for (const size of [64 * 1024, 4096, 256]) {
  const service = await upstream(size)
  const proxy = createModelProxy({
    upstreams: { up: { api: 'openAiCompletions', baseUrl: `${service.url}/v1`, apiKey: 'sk-0123456789-0123456789' } },
    authorize: () => true,
    allow: { up: ['*'] },
    budget: { windows: [{ ms: 60_000, requests: 1_000_000, tokens: 1e15 }] },
  })
  const bare: FetchHandler = async (incoming) => {
    const { body, status, headers } = await fetch(`${service.url}/v1`, { method: 'POST', body: await incoming.text() })
    return new Response(body, { status, headers })
  }
  await using piped = await serve(bare)
  await using proxied = await serve((incoming) => proxy.fetch(incoming))
  const [bareSpeeds, proxySpeeds]: [number[], number[]] = [[], []]
  for (let n = 0; n < samples; n++) {
    bareSpeeds.push(await speed(piped.url))
    proxySpeeds.push(await speed(`${proxied.url}/up/chat/completions`))
  }
  const ratio = median(bareSpeeds.map((each, at) => each / (proxySpeeds[at] ?? 1)))
  const label = `chunks of ${String(size).padStart(5)} bytes`
  console.log(`${label}: bare pipe ${shown(median(bareSpeeds))}, proxy ${shown(median(proxySpeeds))}, time ratio ${ratio.toFixed(2)}`)
  service.close()
}
