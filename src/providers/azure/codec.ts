import { ProviderError } from '../../types/errors.ts'
import type { StreamRequest } from '../../types/provider.ts'
import type { ResponsesRoute } from '../openai-responses/encode-request.ts'
import { headerCredential, mergeHeaders } from '../shared/endpoint.ts'
import { azureAddress } from './azure-url.ts'

export { callService, encodeCall } from '../openai-responses/call.ts'

/** How Azure is told who calls: by the key of the resource, or by a token of Entra ID. */
export type AzureAuth = 'apiKey' | 'entra'

/** Tokens of Entra ID are JWTs; keys contain no dot. */
const token = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/

/** Where and as whom `request` is sent. */
export function azureRoute(
  { model, credential }: StreamRequest,
  apiVersion: string | undefined,
  auth: AzureAuth | undefined,
): ResponsesRoute {
  const own: Record<string, string> = { 'content-type': 'application/json' }
  if (credential !== undefined && credential !== '') {
    const key = headerCredential('Azure OpenAI', credential)
    if (auth === 'entra' || (auth === undefined && token.test(key))) own.authorization = `Bearer ${key}`
    else own['api-key'] = key
  }
  const { url, deployment = model.id } = azureAddress(model.baseUrl, apiVersion)
  return { url, model: deployment, headers: mergeHeaders(own, model.headers) }
}

/** `error` with what a 404 of Azure most likely means; any other error as it is. */
export function explained(error: unknown, { model }: StreamRequest, apiVersion: string | undefined): unknown {
  if (!ProviderError.isInstance(error) || error.status !== 404) return error
  const { url, deployment = model.id } = azureAddress(model.baseUrl, apiVersion)
  const { origin, pathname } = new URL(url)
  const message = `${error.message} Either ${origin} has no deployment named "${deployment}" (the model id must be the name of a deployment; a new one takes some minutes), or it does not serve ${pathname}: set baseUrl to the endpoint of the resource, and no apiVersion.`
  return new ProviderError(error.code, message, { status: 404, isRetryable: error.isRetryable })
}
