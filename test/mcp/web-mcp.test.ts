import { expect, it, vi } from 'vitest'
import { webMcpClient } from '../../adapters/browser/index.ts'
import { mcpTools } from '../../adapters/mcp/index.ts'
import { pageAgent } from '../../examples/recipes/tools/web-mcp.ts'
import { Agent, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { leftThePage, PageModelContext, type PageTool } from '../support/model-context.ts'
import { patient } from '../support/patience.ts'
import { gate } from '../support/play.ts'

const paint: PageTool = {
  name: 'set.colour',
  description: 'Sets the colour of the page.',
  inputSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
  execute: async (input) => ({ applied: Object(input).colour }),
}
const simple = (name: string, execute: PageTool['execute'], more: Partial<PageTool> = {}): PageTool => ({
  ...{ name, description: `Does ${name}.`, execute },
  ...more,
})

async function offered(...tools: PageTool[]) {
  const context = new PageModelContext()
  for (const tool of tools) await context.registerTool(tool)
  return { context, tools: await mcpTools(webMcpClient(context), { prefix: 'page' }) }
}

it('tools that a page offers are tools of an agent, under the rules for those of a server', async () => {
  const { tools } = await offered(
    paint,
    simple('debug', async () => 'x', { annotations: { debugging: true } }),
  )
  expect(tools.map(({ name }) => name)).toEqual([expect.stringMatching(/^page__set_colour_[0-9a-f]{12}$/)])
  const [{ name } = { name: '' }] = tools
  const calls = [{ colour: 'red' }, { color: 'red' }].map((args) => ({ toolCalls: [{ name, arguments: args }] }))
  const model = scripted(({ messages }) => {
    const results = messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    return calls[results.length] ?? { text: results.join(' | ') }
  })
  const { text } = await new Agent({ model, tools, owns: [tools] }).prompt('Make it red.').result
  expect(text).toMatch(/^\{"applied":"red"\} \| .*colour/)
})

it('what a page answers in other ways is a result too', async () => {
  const answers: [string, unknown, string][] = [
    ['text', 'done', 'done'],
    ['number', 7, '7'],
    ['nothing', undefined, 'null'],
    ['as_a_server', { content: [{ type: 'text', text: 'from MCP' }] }, 'from MCP'],
    ['left', leftThePage, 'The page went to another address'],
  ]
  const { tools } = await offered(...answers.map(([name, value]) => simple(name, async () => value)))
  for (const [name, , told] of answers) {
    const model = scripted(({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'toolResult' ? { text: textOf(last.content) } : { toolCalls: [{ name: `page__${name}`, arguments: {} }] }
    })
    expect((await new Agent({ model, tools }).prompt('go').result).text, name).toContain(told)
  }
})

it('a consequential tool asks a person, and one that fails is an error for the model', async () => {
  const fail = async () => {
    throw new Error('no money')
  }
  const { tools } = await offered(simple('pay', fail, { annotations: { consequentialHint: true } }))
  const model = scripted([{ toolCalls: [{ name: 'page__pay', arguments: {} }] }, { text: 'done' }])
  const agent = new Agent({ model, tools })
  const ends: boolean[] = []
  agent.subscribe((event) => {
    if (event.type === 'approvalRequested') agent.currentRun?.approve(event)
    if (event.type === 'toolExecutionEnd') ends.push(event.isError)
  })
  await agent.prompt('go').result
  expect(ends).toEqual([true])
})

it('follows what the page registers and takes back, until it is closed', async () => {
  const { context, tools } = await offered(paint)
  const taken = new AbortController()
  await context.registerTool(
    simple('later', async () => 'x'),
    { signal: taken.signal },
  )
  await vi.waitFor(() => expect(tools.map(({ name }) => name)).toContain('page__later'), patient)
  taken.abort()
  await vi.waitFor(() => expect(tools.map(({ name }) => name)).not.toContain('page__later'), patient)
  await tools.close()
})

it('a run that is stopped cancels the tool', async () => {
  const [begun, cancelled] = [gate(), gate()]
  const hangs = simple('hang', (_input, { signal }) => {
    signal.addEventListener('abort', () => cancelled.open())
    begun.open()
    return new Promise(() => undefined)
  })
  const { tools } = await offered(hangs)
  const agent = new Agent({ model: scripted([{ toolCalls: [{ name: 'page__hang', arguments: {} }] }]), tools })
  const run = agent.prompt('go')
  await begun.opened
  run.abort()
  await cancelled.opened
  expect((await run.result).status).toBe('aborted')
})

it('is what the documentation shows', async () => {
  const context = new PageModelContext()
  await context.registerTool(simple('now', async () => 'noon'))
  const agent = await pageAgent(scripted([{ toolCalls: [{ name: 'page__now', arguments: {} }] }, { text: 'It is noon.' }]), context)
  expect(await agent.prompt('What time is it?').text()).toBe('It is noon.')
  expect(JSON.stringify(agent.messages)).toContain('noon')
  await agent.close()
})

it('is refused what is no model context', () => {
  expect(() => webMcpClient({} as never)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
})
