import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { Agent, type JsonObject } from '../../src/index.ts'
import { openApiTools } from '../../src/openapi.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { callCases, caseDocument } from '../support/openapi-cases.ts'
import { context, textOf } from '../tools/context.ts'

/** A service that answers with what it was asked. */
function echoService() {
  const app = new Hono()
  app.all('*', async ({ req }) => {
    const { pathname, search } = new URL(req.url)
    return Response.json({ method: req.method, target: pathname + search, headers: req.header(), sent: await req.text() })
  })
  return async (input: RequestInfo | URL, init?: RequestInit) => app.fetch(new Request(input, init))
}

const petstore = `openapi: 3.0.3
info: { title: Pets, version: '1' }
servers:
  - url: https://{region}.pets.test/v1/
    variables: { region: { default: eu, enum: [eu, us] } }
paths:
  /pets/{petId}:
    parameters:
      - { $ref: '#/components/parameters/petId' }
    get:
      operationId: getPet
      summary: One pet
    put:
      operationId: putPet
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Pet' }
components:
  parameters:
    petId: { name: petId, in: path, required: true, schema: { type: integer } }
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, nullable: true }
        parent: { $ref: '#/components/schemas/Pet' }
`

describe('calls of OpenAPI tools', () => {
  it.each(callCases.map(({ name }) => name))('%s', async (name) => {
    const { method = '', args = {}, target = '', headers = {}, sent = '' } = callCases.find((each) => each.name === name) ?? {}
    const tools = await openApiTools(caseDocument('https://cases.test'), { fetch: echoService() })
    const answer = textOf((await tools.find((tool) => tool.name === name)?.execute(args as never, context())) ?? '')
    const [path] = target.split('?')
    expect(answer.split('\n')[0]).toBe(`${method.toUpperCase()} https://cases.test${path} → 200 OK`)
    expect(JSON.parse(answer.split('\n\n')[1] ?? '')).toMatchObject({ method: method.toUpperCase(), target, headers, sent })
  })
})

describe('an agent with an OpenAPI document', () => {
  it('parses YAML and validates arguments before each call', async () => {
    const tools = await openApiTools(petstore, { fetch: echoService(), bearer: 'sk-of-the-owner', serverVariables: { region: 'us' } })
    expect(tools.map(({ name, label }) => [name, label])).toEqual([
      ['getPet', 'One pet'],
      ['putPet', 'putPet'],
    ])
    const calls = (body: JsonObject) => [{ name: 'putPet', arguments: { petId: 3, body } }]
    const model = scripted([
      { toolCalls: calls({ name: 7 }) },
      { toolCalls: calls({ name: null, parent: { name: 'Rex' } }) },
      { text: 'Done.' },
    ])
    const { messages } = await new Agent({ model, tools }).prompt('Rename it.').result
    const [refused = '', answered = ''] = messages.flatMap((message) =>
      message.role === 'toolResult' ? [textOf({ content: message.content })] : [],
    )
    expect(refused).toContain('body.name')
    expect(answered).toMatch(/^PUT https:\/\/us\.pets\.test\/v1\/pets\/3 → 200 OK\n\n\{/)
    expect(answered).toContain('"authorization":"Bearer ****"')
  })
})
