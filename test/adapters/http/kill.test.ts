import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { seededRandom } from '../../../testing/fault-fetch.ts'
import { runs } from '../../support/runs.ts'
import { type HostProcess, hostProcesses } from './host-process.ts'
import { allFrames, type Frame, frames } from './read-sse.ts'

const kills = runs(3, 50)

const hostProcess = hostProcesses()

/** The host over one directory, as often as it is started. */
function killableHost() {
  const directory = mkdtempSync(join(tmpdir(), 'phi-host-'))
  let host: HostProcess | undefined
  const kill = async () => host?.signal('SIGKILL')
  onTestFinished(async () => {
    await kill()
    rmSync(directory, { recursive: true, force: true })
  })
  const start = async (): Promise<string> => {
    host = hostProcess(directory)
    return `${await host.url()}/sessions`
  }
  return { start, kill }
}

/** The next frames until there are `count`, or the connection broke. */
async function some(response: Response, count: number): Promise<Frame[]> {
  const read: Frame[] = []
  for await (const frame of frames(response)) if (read.push(frame) >= count) break
  return read
}

it(`completes all runs although the Node host is killed ${kills} times`, async () => {
  const random = seededRandom(11)
  const host = killableHost()
  let url = await host.start()
  let sessions = 0
  let begun = 0
  for (let kill = 0; kill < kills; sessions++) {
    const headers = { 'content-type': 'application/json' }
    let response = await fetch(`${url}/s${sessions}/runs`, { method: 'POST', headers, body: '{"prompt":"Go."}' })
    expect(response.status).toBe(200)
    const ended = new Set<string>()
    for (let isOn = true; isOn && kill < kills; kill++) {
      // A client that is shown the end of a message may count on it.
      const seen = await some(response, 4 + Math.floor(random() * 40))
      for (const { event, data } of seen) if (event === 'messageEnd') ended.add(data.messageId)
      const { loopId } = seen[0]?.data ?? {}
      await host.kill()
      url = await host.start()
      const again = await fetch(`${url}/s${sessions}/runs/${loopId}/events`)
      const problem = await again.json()
      expect([again.status, problem.code]).toEqual([410, 'gone'])
      const text = await (await fetch(`${url}/s${sessions}`)).text()
      expect([...ended].filter((id) => !text.includes(id))).toEqual([])
      isOn = problem.continuedBy !== undefined
      if (isOn) response = await fetch(`${url}/s${sessions}/runs/${problem.continuedBy}/events`)
      if (isOn) expect(response.status).toBe(200)
    }
    if (!response.bodyUsed) expect((await allFrames(response)).at(-1)?.data.status).toBe('completed')
    const { session: stored } = await (await fetch(`${url}/s${sessions}`)).json()
    begun += stored.loops.length
    expect(stored.loops.at(-1).status).toBe('completed')
    const results = stored.loops.flatMap(({ messages }: { messages: { role: string; toolCallId?: string }[] }) =>
      messages.flatMap(({ role, toolCallId }) => (role === 'toolResult' ? [toolCallId] : [])),
    )
    expect(results).toEqual(['call-0', 'call-1', 'call-2', 'call-3', 'call-4', 'call-5'])
  }
  console.log(`${kills} kills of the Node host: ${sessions} runs in ${begun} attempts, all completed`)
})
