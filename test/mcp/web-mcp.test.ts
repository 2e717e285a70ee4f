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

it('offers page tools to an agent under the rules for MCP tools', async () => {
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

it('accepts results of any form from the page', async () => {
  const answers: [string, unknown, string][] = [
    ['text', 'done', 'done'],
    ['number', 7, '7'],
    ['nothing', undefined, 'null'],
    ['as_a_server', { content: [{ type: 'text', text: 'from MCP' }] }, 'from MCP'],
    ['left', leftThePage, 'The page navigated away'],
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

it('requests approval for a consequential tool, and reports its failure to the model', async () => {
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

it("follows the page's tool registrations until it is closed", async () => {
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

it('cancels the page tool when the run aborts', async () => {
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

it('works as shown in the documentation', async () => {
  const context = new PageModelContext()
  await context.registerTool(simple('now', async () => 'noon'))
  const agent = await pageAgent(scripted([{ toolCalls: [{ name: 'page__now', arguments: {} }] }, { text: 'It is noon.' }]), context)
  expect(await agent.prompt('What time is it?').text()).toBe('It is noon.')
  expect(JSON.stringify(agent.messages)).toContain('noon')
  await agent.close()
})

it('rejects an object that is no model context', () => {
  expect(() => webMcpClient({} as never)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
})
