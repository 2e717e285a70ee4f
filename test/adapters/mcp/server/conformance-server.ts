// What the official scenarios ask of a server, as tools of ours: `serve-mcp` on a free port, whose address it prints.
import { createServer } from 'node:http'
import { serveMcp } from '../../../../adapters/mcp/server/index.ts'
import { toNodeHandler } from '../../../../adapters/node/index.ts'
import { type AgentTool, type Content, defineTool, type JsonObject, ToolError } from '../../../../src/index.ts'
import { loadSkills, memoryWorkspace } from '../../../../src/tools.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='
const image: Content = { type: 'image', mimeType: 'image/png', data: png }
const document: Content = { type: 'file', mimeType: 'text/plain', name: 'a.txt', data: btoa('This is an embedded resource content.') }
const none = { type: 'object', properties: {} }

function tool(name: string, execute: AgentTool['execute'], parameters: JsonObject = none): AgentTool {
  return defineTool({ name, description: `For the scenario of ${name}.`, parameters, execute })
}

const asks = (name: string, schema: JsonObject, parameters: JsonObject = none) =>
  tool(
    name,
    async ({ message = 'Please answer.' }, ctx) => {
      const answer = await ctx.requestInput?.({ message: String(message), schema })
      return `User response: ${JSON.stringify(answer)}`
    },
    parameters,
  )
const text = (extra: JsonObject = {}) => ({ type: 'string', ...extra })
const three = ['option1', 'option2', 'option3']
const titled = three.map((value, at) => ({ const: value, title: `${['First', 'Second', 'Third'][at]} Option` }))

const tools: AgentTool[] = [
  tool('test_simple_text', () => 'This is a simple text response for testing.'),
  tool('test_image_content', () => ({ content: [image] })),
  tool('test_audio_content', () => ({ content: [{ type: 'file', mimeType: 'audio/wav', data: wav }] })),
  tool('test_embedded_resource', () => ({ content: [document] })),
  tool('test_multiple_content_types', () => ({ content: [{ type: 'text', text: 'Multiple content types test:' }, image, document] })),
  tool('test_tool_with_logging', async (_args, ctx) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) ctx.progress(line)
    return 'Logged.'
  }),
  tool('test_tool_with_progress', async (_args, ctx) => {
    for (const part of [0, 50, 100]) ctx.progress(`${part} of 100`)
    return 'Done.'
  }),
  tool('test_error_handling', () => {
    throw new ToolError('failed', 'This tool intentionally returns an error for testing')
  }),
  asks(
    'test_elicitation',
    { type: 'object', properties: { response: text({ description: "User's response" }) }, required: ['response'] },
    { type: 'object', properties: { message: text() }, required: ['message'] },
  ),
  asks('test_elicitation_sep1034_defaults', {
    type: 'object',
    properties: {
      name: text({ default: 'John Doe' }),
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: text({ enum: ['active', 'inactive', 'pending'], default: 'active' }),
      verified: { type: 'boolean', default: true },
    },
  }),
  asks('test_elicitation_sep1330_enums', {
    type: 'object',
    properties: {
      untitledSingle: text({ enum: three }),
      titledSingle: text({ oneOf: titled }),
      legacyEnum: text({ enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] }),
      untitledMulti: { type: 'array', items: text({ enum: three }) },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    },
  }),
  tool('json_schema_2020_12_tool', () => 'ok', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { type: 'object', properties: { street: text(), city: text() } } },
    properties: { name: text(), address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  }),
]

const workspace = memoryWorkspace({
  'skills/test_simple_prompt/SKILL.md': '---\nname: test_simple_prompt\ndescription: Makes tea.\n---\nBoil water.',
})
const skills = { skills: await loadSkills(workspace, ['skills']), workspace }
const server = createServer(toNodeHandler(serveMcp({ tools, skills, authorize: 'loopbackOnly' }).fetch))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`)
})
