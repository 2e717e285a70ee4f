// npm run bench memory [-- protocol]: the most memory that a run with a PDF of 20 MB takes, by protocol: each in a process of its own, with a server here
// that reads the request and refuses it.
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { quantile } from '../task.ts'
import { protocols } from './protocols.ts'

const megabytes = 20
const goal = 4
const runs = 3

const server = createServer(async (request, response) => {
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  const message = `read ${bytes} bytes`
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ message, error: { message } }))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port }: AddressInfo = server.address() as AddressInfo // it listens on a port

async function peakOf(protocol: string): Promise<number> {
  const file = new URL('one-run.ts', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(process.execPath, [file, protocol, `http://127.0.0.1:${port}`, String(megabytes)])
  const { sent, peak }: { sent: number; peak: number } = JSON.parse(stdout)
  if (sent < (megabytes * 4e6) / 3) throw new Error(`${protocol} sent ${sent} bytes: that is not all of the file.`)
  return peak
}

const rows: Record<string, string>[] = []
for (const protocol of Object.keys(protocols).filter((name) => name.includes(process.argv[2] ?? ''))) {
  const peaks: number[] = []
  for (let n = 0; n < runs; n += 1) peaks.push(await peakOf(protocol))
  const times = quantile(peaks) / (megabytes * 1e6)
  const isMet = times <= goal
  rows.push({
    protocol,
    'peak MB': (quantile(peaks) / 1e6).toFixed(0),
    'of its size': times.toFixed(1),
    goal: `≤ ${goal}${isMet ? '' : ', missed'}`,
  })
}
console.table(rows)
server.close()
