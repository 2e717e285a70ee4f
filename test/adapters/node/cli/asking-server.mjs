// An MCP server whose one tool asks a person in the middle of a call, and says what it was answered.
import { createInterface } from 'node:readline'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const requestedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'In whose name?', default: 'Ada' },
    guests: { type: 'integer', minimum: 1 },
    window: { type: 'boolean' },
    meal: {
      type: 'string',
      oneOf: [
        { const: 'veg', title: 'Vegetables' },
        { const: 'fish', title: 'Fish \u001b[2J' },
      ],
    },
    extras: { type: 'array', items: { type: 'string', enum: ['bread', 'wine', 'cake'] } },
  },
  required: ['guests', 'meal'],
}
let asking

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (method === 'initialize') {
    const { protocolVersion, capabilities } = params
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asking', version: '1' } } })
    canAsk = capabilities.elicitation !== undefined
  } else if (method === 'tools/list') {
    send({ id, result: { tools: [{ name: 'book', inputSchema: { type: 'object' } }] } })
  } else if (method === 'tools/call') {
    asking = id
    if (canAsk) send({ id: 'q', method: 'elicitation/create', params: { message: 'Which table?', requestedSchema } })
    else send({ id, result: { content: [{ type: 'text', text: 'nobody to ask' }] } })
  } else if (id === 'q') {
    send({ id: asking, result: { content: [{ type: 'text', text: `answered ${JSON.stringify(result)}` }] } })
  }
})

let canAsk = false
