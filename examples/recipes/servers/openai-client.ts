import type OpenAI from 'openai'

/** Asks an agent, and answers what it asks about its own tools, with the official client of OpenAI. */
export async function askAgent(client: OpenAI, input: string, mayRun: (tool: string, args: string) => boolean): Promise<string> {
  let response = await client.responses.create({ model: 'support', input })
  for (;;) {
    const asked = response.output.filter((item) => item.type === 'mcp_approval_request')
    if (asked.length === 0) return response.output_text
    response = await client.responses.create({
      model: 'support',
      previous_response_id: response.id,
      input: asked.map(({ id, name, arguments: args }) => ({
        type: 'mcp_approval_response',
        approval_request_id: id,
        approve: mayRun(name, args),
      })),
    })
  }
}
