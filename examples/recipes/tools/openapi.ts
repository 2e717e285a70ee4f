import { Hono } from 'hono'
import { Agent, textOf } from 'phi-core'
import { serve } from 'phi-core/node'
import { openApiTools } from 'phi-core/openapi'
import { scripted } from 'phi-core/testing'

const document = `openapi: 3.1.0
info: { title: Petstore, version: '1' }
paths:
  /pets:
    post:
      operationId: addPet
      summary: Adds a pet.
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Pet' }
  /pets/{petId}:
    get:
      operationId: getPet
      summary: One pet.
      parameters:
        - { name: petId, in: path, required: true, schema: { type: integer } }
components:
  schemas:
    Pet: { type: object, required: [name], properties: { name: { type: string, minLength: 1 } } }
`

/** A pet store API that requires a token. */
function petstore(token: string): Hono {
  const pets = ['Mia']
  const app = new Hono()
  app.use(async (c, next) => (c.req.header('authorization') === `Bearer ${token}` ? next() : c.json({ error: 'who are you?' }, 401)))
  app.get('/pets/:id', (c) => {
    const name = pets[Number(c.req.param('id')) - 1]
    return name === undefined ? c.json({ error: 'no such pet' }, 404) : c.json({ name })
  })
  app.post('/pets', async (c) => {
    const { name } = await c.req.json<{ name: string }>()
    return c.json({ id: pets.push(name), name }, 201)
  })
  return app
}

export async function petKeeper(write: (line: string) => void): Promise<void> {
  const app = petstore('token-of-ann')
  await using server = await serve(app, { port: 0 })
  const tools = await openApiTools(document, { baseUrl: server.url, bearer: 'token-of-ann', needsApproval: 'unsafe' })
  const model = scripted([
    { toolCalls: [{ name: 'getPet', arguments: { petId: 2 } }] },
    { toolCalls: [{ name: 'addPet', arguments: { body: { name: 'Rex' } } }] },
    { text: 'Pet 2 did not exist, so I added Rex.' },
  ])
  const run = new Agent({ model, tools }).prompt('Who is pet 2? If there is none, add Rex.')
  run.subscribe((event) => {
    if (event.type === 'toolExecutionEnd') write(textOf(event.result.content).replace(server.url, 'http://petstore'))
    if (event.type !== 'approvalRequested') return
    write(`Call ${event.toolName} with ${JSON.stringify(event.args)}? Yes.`)
    run.approve(event)
  })
  write(await run.text())
}
