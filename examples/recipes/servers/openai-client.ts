import type OpenAI from 'openai'

/** Sends a prompt with OpenAI's official client, and decides the agent's tool calls. */
export async function askAgent(client: OpenAI, input: string, mayRun: (tool: string, args: string) => boolean): Promise<string> {
  let response = await client.responses.create({ model: 'support', input })
  for (;;) {
    const pending = response.output.filter((item) => item.type === 'mcp_approval_request')
    if (pending.length === 0) return response.output_text
    response = await client.responses.create({
      model: 'support',
      previous_response_id: response.id,
      input: pending.map(({ id, name, arguments: args }) => ({
        type: 'mcp_approval_response',
        approval_request_id: id,
        approve: mayRun(name, args),
      })),
    })
  }
}
