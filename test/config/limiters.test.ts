import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { agentFromConfig, agentsFromConfig, parseConfig } from '../../src/config.ts'
import { type Agent, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { agentOf, refusal } from '../support/agent-files.ts'
import { gate } from '../support/play.ts'

const host = { trust: true }
const text = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`
const answer = (content: string) => new Response(text(content), { headers: { 'content-type': 'text/event-stream' } })

/** A service that notes how many of its calls run at a time, by model. It answers once `expected` do, and others have had time to come. */
function service(expected: Record<string, number>) {
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const gates = new Map(Object.keys(expected).map((model) => [model, gate()]))
  const fetch: typeof globalThis.fetch = async (_input, init) => {
    const { model } = JSON.parse(String(init?.body)) as { model: string }
    const now = (running.get(model) ?? 0) + 1
    running.set(model, now)
    most.set(model, Math.max(now, most.get(model) ?? 0))
    if (now === expected[model]) gates.get(model)?.open()
    await gates.get(model)?.opened
    for (let task = 0; task < 20; task += 1) await setImmediate()
    running.set(model, (running.get(model) ?? 0) - 1)
    return model === 'down' ? Response.json({ error: { message: 'No.' } }, { status: 503 }) : answer(`From ${model}.`)
  }
  return { most, fetch }
}

const section = (model: string, more = '') => `model = "${model}"\napi = "openai"\napi_key = "k"\n${more}`

describe('a limiter in an agent file', () => {
  it('limits all agents of one configuration together', async () => {
    const { most, fetch } = service({ m: 2 })
    const { config } = await parseConfig(`[provider]\n${section('m')}[provider.limiter]\nconcurrency = 2`, 'toml')
    const agents = await Promise.all([1, 2, 3].map(() => agentFromConfig(config, { ...host, fetch })))
    const [several] = (await agentsFromConfig(config, { ...host, fetch })).values()
    if (several !== undefined) agents.push(several)
    const results = await Promise.all(agents.map((agent) => agent.prompt('go').text()))
    expect(results).toEqual(Array(4).fill('From m.'))
    expect(most.get('m')).toBe(2)
  })

  it('limits each section and configuration separately', async () => {
    const { most, fetch } = service({ one: 1, free: 2 })
    const file = `[provider]\n${section('one')}limiter = { concurrency = 1 }
[[provider.instances]]\nid = "free"\n${section('free')}
[[agent.instances]]\nname = "a"\n[[agent.instances]]\nname = "b"\n[[agent.instances]]\nname = "c"\nprovider = "{{free}}"\n[[agent.instances]]\nname = "d"\nprovider = "{{free}}"`
    const agents = [...(await agentsFromConfig((await parseConfig(file, 'toml')).config, { ...host, fetch })).values()]
    await Promise.all(agents.map((agent) => agent.prompt('go').text()))
    expect(Object.fromEntries(most)).toEqual({ one: 1, free: 2 })
    const other = service({ one: 2 })
    const again = async () => agentFromConfig((await parseConfig(file, 'toml')).config, { ...host, fetch: other.fetch })
    await Promise.all((await Promise.all([again(), again()])).map((agent) => agent.prompt('go').text()))
    expect(other.most.get('one')).toBe(2)
  })

  it('applies a limiter to fallback models', async () => {
    const { most, fetch } = service({ down: 2, backup: 1 })
    const file = `[provider]\n${section('down', 'fallback = ["{{backup}}"]\n')}
[[provider.instances]]\nid = "backup"\n${section('backup')}limiter = { concurrency = 1, per_ms = 1000 }`
    const { config } = await parseConfig(file, 'toml')
    const agents = await Promise.all([1, 2].map(() => agentFromConfig(config, { ...host, fetch })))
    expect(await Promise.all(agents.map((agent) => agent.prompt('go').text()))).toEqual(['From backup.', 'From backup.'])
    expect(Object.fromEntries(most)).toEqual({ down: 2, backup: 1 })
  })

  it('falls back to another model after the maximum wait', async () => {
    const { most, fetch } = service({ busy: 2, backup: 1 })
    const file = `[provider]\n${section('busy', 'fallback = ["{{backup}}"]\nlimiter = { concurrency = 1, max_wait_ms = 1 }\n')}
[[provider.instances]]\nid = "backup"\n${section('backup')}`
    const { config } = await parseConfig(file, 'toml')
    const agents = await Promise.all([1, 2].map(() => agentFromConfig(config, { ...host, fetch })))
    const runs = agents.map((agent) => agent.prompt('go'))
    expect(await Promise.race(runs.map((run) => run.text()))).toBe('From backup.')
    expect(Object.fromEntries(most)).toEqual({ busy: 1, backup: 1 })
    for (const run of runs) run.abort()
  })

  it.each([
    ['', ['parent', 'person', 'parent', 'helper']],
    ['priority = "Person"', ['parent', 'person', 'helper', 'parent']],
  ])('prefers users over background tasks unless configured otherwise: %s', async (priority, order) => {
    const began: string[] = []
    const file = `[provider]\nmodel = "m"\nlimiter = { concurrency = 1 }
[[sub_agents.instances]]\nname = "helper"\ndescription = "Helps."\nmodel = "h"\nbackground = true\n${priority}`
    const { config } = await parseConfig(file, 'toml')
    const agents: Agent[] = []
    const createModel = ({ model }: { model?: string }) =>
      scripted(async ({ messages }) => {
        const said = textOf(messages.find(({ role }) => role === 'user')?.content ?? [])
        began.push(model === 'h' ? 'helper' : said)
        if (began.length === 1) {
          agents[1]?.prompt('person')
          return { toolCalls: [{ name: 'helper', arguments: { task: 'Look.' } }] }
        }
        for (let task = 0; task < 20; task += 1) await setImmediate()
        return { text: 'Done.' }
      })
    for (let each = 0; each < 2; each += 1) agents.push(await agentFromConfig(config, { ...host, createModel }))
    expect((await agents[0]?.prompt('parent').result)?.status).toBe('completed')
    expect(began.slice(0, 4)).toEqual(order)
  })

  it('serves agents with background priority after the others', async () => {
    const began: string[] = []
    const file = `[provider]\nmodel = "m"\nlimiter = { concurrency = 1 }
[[agent.instances]]\nname = "nightly"\npriority = "Background"\n[[agent.instances]]\nname = "chat"`
    let agents = new Map<string, Agent>()
    const runs: Promise<string>[] = []
    const say = (name: string) => agents.get(name)?.prompt(name).text() ?? Promise.reject(new Error(name))
    const createModel = () =>
      scripted(async ({ messages }) => {
        began.push(textOf(messages[0]?.content ?? []))
        if (began.length === 1) runs.push(...['nightly', 'chat'].map(say))
        for (let task = 0; task < 20; task += 1) await setImmediate()
        return { text: 'Done.' }
      })
    agents = await agentsFromConfig((await parseConfig(`${file}\n[[agent.instances]]\nname = "first"`, 'toml')).config, {
      ...host,
      createModel,
    })
    await say('first')
    await Promise.all(runs)
    expect(began).toEqual(['first', 'chat', 'nightly'])
    const wrong = `${file}\n[[agent.instances]]\nname = "x"\npriority = "later"`
    await expect(parseConfig(wrong, 'toml')).rejects.toMatchObject({ field: 'agent.instances[2].priority' })
  })

  it('accepts an empty limiter, and rejects invalid limits', async () => {
    const { fetch } = service({ m: 1 })
    expect(await (await agentOf(`[provider]\n${section('m')}[provider.limiter]`, { ...host, fetch })).prompt('go').text()).toBe('From m.')
    expect(await refusal(`[provider]\n${section('m')}limiter = { concurrency = 0 }`)).toMatchObject({
      field: 'provider.limiter.concurrency',
    })
    const { warnings } = await parseConfig(`[provider]\n${section('m')}limiter = { request = 5 }`, 'toml')
    expect(JSON.stringify(warnings)).toContain('request')
  })
})
