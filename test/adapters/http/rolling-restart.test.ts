import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fileSessionStore } from '../../../adapters/node/index.ts'
import { remoteSession } from '../../../src/client.ts'
import type { AgentEvent, RunResult } from '../../../src/index.ts'
import { seededRandom } from '../../../testing/fault-fetch.ts'
import { patient } from '../../support/patience.ts'
import { runs } from '../../support/runs.ts'
import { type HostProcess, hostProcesses } from './host-process.ts'

const hostProcess = hostProcesses()

/** Processes over one directory, each with the sessions of its slot, and what was paid there. */
function hostsOver(slots: number) {
  const directory = mkdtempSync(join(tmpdir(), 'phi-hosts-'))
  const hosts: HostProcess[] = []
  onTestFinished(async () => {
    await Promise.all(hosts.map((host) => host.signal('SIGKILL')))
    for (const path of [directory, `${directory}.paid`]) rmSync(path, { recursive: true, force: true })
  })
  const start = (slot: number): HostProcess => {
    const host = hostProcess(directory, String(slot), String(slots))
    hosts[slot] = host
    return host
  }
  for (let slot = 0; slot < slots; slot++) start(slot)
  /** As a load balancer: to the process that has the slot by then. */
  const send = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    const number = Number(/s(\d+)/.exec(url.pathname)?.[1])
    const base = await hosts[number % slots]?.url()
    return fetch(new Request(`${base}${url.pathname}${url.search}`, request))
  }
  const paid = () => readFileSync(`${directory}.paid`, 'utf8').trim().split('\n')
  return { start, hosts, send, paid, store: fileSessionStore(directory) }
}

type Hosts = ReturnType<typeof hostsOver>

/** Begins a run in session `number`; its client connects again as often as it has to. */
function begin({ send }: Hosts, number: number): { result: Promise<RunResult>; isOn: Promise<void>; ends: () => number } {
  const reconnect = { initialDelayMs: 5, maxDelayMs: 50, maxRetries: 10_000 }
  const session = remoteSession({ url: 'http://localhost', sessionId: `s${number}`, fetch: send, reconnect })
  const run = session.prompt('Pay.')
  let ends = 0
  const isOn = new Promise<void>((resolve) => {
    run.subscribe(({ type }: AgentEvent) => {
      if (type === 'messageUpdate') resolve()
      if (type === 'agentEnd') ends += 1
    })
  })
  return { result: run.result.finally(() => session.close()), isOn, ends: () => ends }
}

/** How often its run was begun, and the ends that the log of a session has. */
async function endOf({ store }: Hosts, number: number): Promise<{ begun: number; ends: string[] }> {
  const { records } = await store.tail(`s${number}`)
  const ends = records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : []))
  return { begun: records.filter(({ entry }) => entry.type === 'loopStart').length, ends }
}

const { timeout } = patient

const load = runs(25, 50)
/** Of them, how many begin in each process just before it restarts: the others have begun before. */
const fresh = load / 5

it(`restarts three processes in turn under ${load} runs without lost runs or double payments`, {
  timeout,
}, async () => {
  const hosts = hostsOver(3)
  const begun = Array.from({ length: 2 * fresh }, (_, number) => begin(hosts, number))
  for (const [slot, host] of [...hosts.hosts].entries()) {
    const more = Array.from({ length: fresh }, (_, at) => begin(hosts, 30 + 3 * at + slot))
    begun.push(...more)
    await Promise.all(more.map(({ isOn }) => isOn))
    await host.signal('SIGTERM')
    await hosts.start(slot).url()
  }
  const results = await Promise.all(begun.map(({ result }) => result))
  expect(results.map(({ error, status, text }) => `${error?.message ?? status} ${text}`)).toEqual(Array(load).fill('completed all done'))
  expect(begun.map(({ ends }) => ends())).toEqual(Array(load).fill(1))
  const numbers = [...Array(2 * fresh).keys(), ...Array.from({ length: 3 * fresh }, (_, at) => 30 + at)]
  const taken = await Promise.all(numbers.map(async (number) => ({ number, ...(await endOf(hosts, number)) })))
  expect(taken.map(({ ends }) => ends)).toEqual(Array(load).fill(['completed']))
  // In each of them a run was on.
  expect(new Set(taken.flatMap(({ number, begun: times }) => (times > 1 ? [number % 3] : []))).size).toBe(3)
  const paid = hosts.paid()
  expect([paid.length, new Set(paid).size]).toEqual([6 * load, 6 * load])
})

const rounds = runs(3, 100)

it(`loses no run although processes are killed ${2 * rounds} times while draining or recovering`, { timeout }, async () => {
  const random = seededRandom(5)
  const hosts = hostsOver(1)
  const some = 6
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  for (let round = 0; round < rounds; round++) {
    const begun = Array.from({ length: some }, (_, number) => begin(hosts, round * some + number))
    await Promise.all(begun.map(({ isOn }) => isOn))
    const [first] = hosts.hosts
    await first?.signal('SIGTERM', false)
    await first?.says('draining')
    await wait(random() * 60)
    await first?.signal('SIGKILL')
    const second = hosts.start(0)
    await second.says('recovering')
    await wait(random() * 60)
    await second.signal('SIGKILL')
    hosts.start(0)
    const results = await Promise.all(begun.map(({ result }) => result))
    expect(results.map(({ error, status, text }) => `${error?.message ?? status} ${text}`)).toEqual(Array(some).fill('completed all done'))
    expect(begun.map(({ ends }) => ends())).toEqual(Array(some).fill(1))
    for (let number = 0; number < some; number++)
      await expect.poll(async () => (await endOf(hosts, round * some + number)).ends).toEqual(['completed'])
  }
  const paid = hosts.paid()
  expect(new Set(paid).size).toBe(paid.length)
})

const steered = runs(5, 78)

it(`keeps messages to runs whose process is killed immediately, ${steered} times`, { timeout }, async () => {
  const random = seededRandom(8)
  const hosts = hostsOver(1)
  for (let number = 0; number < steered; number++) {
    const { result, isOn } = begin(hosts, number)
    await isOn
    const url = `${await hosts.hosts[0]?.url()}/sessions/s${number}`
    const path = random() < 0.5 ? 'steer' : 'follow-up'
    const headers = { 'content-type': 'application/json', 'idempotency-key': `key-${number}-key` }
    const said = await fetch(`${url}/${path}`, { method: 'POST', headers, body: '{"prompt":"One more thing."}' })
    expect(said.status).toBe(202)
    await hosts.hosts[0]?.signal('SIGKILL')
    const next = `${await hosts.start(0).url()}/sessions/s${number}`
    expect(['queued', 'delivered']).toContain((await (await fetch(`${next}/queue/key-${number}-key`)).json()).status)
    expect((await result).status).toBe('completed')
    expect((await (await fetch(`${next}/queue/key-${number}-key`)).json()).status).toBe('delivered')
    const { messages } = await (await fetch(`${next}/history`)).json()
    expect(messages.filter(({ id }: { id: string }) => id === `key-${number}-key`)).toHaveLength(1)
  }
})
