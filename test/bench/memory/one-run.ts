// One run with a PDF, in a process of its own: argv are protocol, address of a server that refuses what it has read, megabytes. Prints how much memory
// it took at its peak beside what it took before.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, fileContent, type Model } from 'phi-core'
import { protocols } from './protocols.ts'

const [protocol = '', baseUrl = '', megabytes = '0'] = process.argv.slice(2)
const modelAt = protocols[protocol]
if (modelAt === undefined) throw new Error(`There is no protocol ${protocol}.`)
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** As random as compressed pages, and always the same. */
function pdf(bytes: number): Uint8Array {
  const data = new Uint8Array(bytes)
  let seed = 42
  for (let at = 0; at < bytes; at += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    data[at] = seed >>> 16
  }
  data.set(new TextEncoder().encode('%PDF-1.7\n'))
  return data
}

/** Asks about a file of `bytes`; returns how many bytes of a request the server has read. */
async function ask(modelAt: (baseUrl: string) => Model, bytes: number): Promise<number> {
  const agent = new Agent({ model: modelAt(baseUrl), retry: false })
  const file = await fileContent(pdf(bytes), { name: 'a.pdf' })
  const { error } = await agent.prompt([{ role: 'user', content: [{ type: 'text', text: 'What does it say?' }, file] }]).result
  const read = /read (\d+) bytes/.exec(error?.message ?? '')?.[1]
  if (read === undefined) throw new Error(`The server did not say what it has read: ${error?.message}`)
  return Number(read)
}

// Once with a small one, so that all code is there.
await ask(modelAt, 100_000)
collect()
const idle = process.memoryUsage.rss()
const sent = await ask(modelAt, Number(megabytes) * 1_000_000)
process.stdout.write(JSON.stringify({ sent, peak: process.resourceUsage().maxRSS * 1024 - idle }))
process.exit(0)
