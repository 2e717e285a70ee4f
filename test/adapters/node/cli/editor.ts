import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import {
  type ClientConnection,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { onTestFinished } from 'vitest'
import { program } from './command.ts'

const { agent: on, client: ofClient } = methods

export { on }

/** An editor that the official library drives, with `phi acp` as its agent. */
export interface Editor {
  connection: ClientConnection
  child: ChildProcess
  updates: SessionUpdate[]
  asked: RequestPermissionRequest[]
  questions: CreateElicitationRequest[]
  /** Unsaved texts, by path. */
  open: Map<string, string>
}

export interface EditorOptions {
  args?: readonly string[]
  env: Record<string, string>
  cwd: string
  /** The option that the person takes; `undefined`: nobody answers. */
  answer?: (request: RequestPermissionRequest) => string | undefined
  /** Forms that the person fills in; absent: the editor has none. `undefined`: nobody does. */
  fill?: (request: CreateElicitationRequest) => CreateElicitationResponse | undefined
}

export async function editorWith({
  args = ['--model', 'openai/test', '--no-sandbox'],
  env,
  cwd,
  answer = () => 'once',
  fill,
}: EditorOptions): Promise<Editor> {
  const child = spawn(process.execPath, [program, 'acp', ...args], { env, cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const editor = {
    child,
    updates: [] as SessionUpdate[],
    asked: [] as RequestPermissionRequest[],
    questions: [] as CreateElicitationRequest[],
    open: new Map<string, string>(),
  }
  const app = client({ name: 'test editor' })
    .onNotification(ofClient.session.update, ({ params }) => void editor.updates.push(params.update))
    .onRequest(ofClient.session.requestPermission, async ({ params, signal }) => {
      editor.asked.push(params)
      const optionId = answer(params)
      if (optionId !== undefined) return { outcome: { outcome: 'selected' as const, optionId } }
      await new Promise((done) => signal.addEventListener('abort', done))
      return { outcome: { outcome: 'cancelled' as const } }
    })
    .onRequest(ofClient.elicitation.create, async ({ params, signal }) => {
      editor.questions.push(params)
      const filled = fill?.(params)
      if (filled !== undefined) return filled
      await new Promise((done) => signal.addEventListener('abort', done))
      return { action: 'cancel' as const }
    })
    .onRequest(ofClient.fs.readTextFile, ({ params: { path } }) => ({ content: editor.open.get(path) ?? readFileSync(path, 'utf8') }))
    .onRequest(ofClient.fs.writeTextFile, ({ params: { path, content } }) => {
      editor.open.set(path, content)
      return {}
    })
  const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), input))
  await connection.agent.request(on.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, ...(fill !== undefined && { elicitation: { form: {} } }) },
  })
  return { ...editor, connection }
}

export const text = (words: string): ContentBlock[] => [{ type: 'text', text: words }]
