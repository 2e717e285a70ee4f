// An agent as an MCP server over standard input and output, as editors and desktop programs start one:
//   { "command": "node", "args": ["examples/node/mcp-server.ts"] }
import { Agent } from 'phi-core'
import { modelFromEnv } from 'phi-core/env'
import { serveMcpStdio } from 'phi-core/mcp/node'
import { scripted } from 'phi-core/testing'

// Without a key in the environment, a scripted model responds and says so.
const model = await modelFromEnv().catch(() =>
  scripted(() => ({ text: 'I am a scripted model: set ANTHROPIC_API_KEY to ask a real one.' })),
)

const { ended } = await serveMcpStdio({
  agents: {
    helper: { description: 'A helpful assistant.', agent: () => new Agent({ model, systemPrompt: 'You are a helpful assistant.' }) },
  },
})
await ended
