import { errorText } from '../parts/error-text.ts'
import type { ModelChoice } from '../settings/settings.ts'
import { type FactoryCall, factoryCall, keyOwnerOf } from './factory-call.ts'
import { keyOf } from './key-vault.ts'
import { makeModel } from './make-model.ts'

/** The result of listing a provider's models with this key. The request costs no tokens. */
export type ModelList = { isThere: true; ids: readonly string[] } | { isThere: false; why: string }

/** URL of the list, relative to the model's URL, and the form of the key. */
interface ListCall {
  path: string
  headers: (key: string) => Record<string, string>
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const chat: ListCall = { path: '/models', headers: bearer }
const google: ListCall = { path: '/models', headers: (key) => ({ 'x-goog-api-key': key }) }

/** By factory. Absent if a provider has no list, or does not accept its key in a header. */
const lists: Partial<Record<FactoryCall['factory'], ListCall>> = {
  anthropic: {
    path: '/v1/models?limit=1000',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01', 'anthropic-dangerous-direct-browser-access': 'true' }),
  },
  openai: chat,
  openaiResponses: chat,
  openrouter: chat,
  openaiCompatible: chat,
  local: chat,
  google,
}

/** Lists the selected provider's models with this page's key, which also verifies the key. Never rejects. */
export async function listModels(choice: ModelChoice): Promise<ModelList> {
  const list = lists[factoryCall(choice).factory]
  if (list === undefined) return { isThere: false, why: 'This provider has no model list that a page can request.' }
  const key = keyOf(keyOwnerOf(choice) ?? '')
  if (key === undefined && choice.source === 'direct') return { isThere: false, why: 'Enter a key first.' }
  try {
    const { config } = await makeModel(choice)
    const url = `${config.baseUrl.replace(/\/+$/, '')}${list.path}`
    const response = await fetch(url, { headers: key === undefined ? {} : list.headers(key), signal: AbortSignal.timeout(15_000) })
    if (!response.ok) return { isThere: false, why: await refusalOf(response) }
    return { isThere: true, ids: idsIn(await response.json()) }
  } catch (error) {
    return {
      isThere: false,
      why: `No response: ${errorText(error)}. The server may not allow requests from web pages.`,
    }
  }
}

/** Returns the provider's message. Omits it if it is about the key, because providers echo keys. */
async function refusalOf(response: Response): Promise<string> {
  if (response.status === 401 || response.status === 403) return `The provider rejected the key (${response.status}).`
  const body: unknown = await response.json().catch(() => undefined)
  const { error, message } = Object(body)
  const reason: unknown = Object(error).message ?? message
  return `The provider responded with ${response.status}${typeof reason === 'string' ? `: ${reason.slice(0, 200)}` : '.'}`
}

/** Returns the ids in a list from OpenAI or Anthropic (`data`), or from Google (`models`, with names that begin with `models/`). */
function idsIn(body: unknown): string[] {
  const { data, models } = Object(body)
  const rows: unknown[] = Array.isArray(data) ? data : Array.isArray(models) ? models : []
  const ids = rows.flatMap((row) => {
    const { id, name } = Object(row)
    const own = typeof id === 'string' ? id : name
    return typeof own === 'string' ? [own.replace(/^models\//, '').slice(0, 200)] : []
  })
  return ids.slice(0, 2000).toSorted()
}
