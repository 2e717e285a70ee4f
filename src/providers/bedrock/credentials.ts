import { ConfigError } from '../../contract/errors.ts'
import { type ApiKey, type CredentialProvider, staticCredential } from '../../types/model/model.ts'
import { credentialsOf } from '../kit/create-model.ts'

/** Keys that sign requests to AWS. */
export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  /** Present for temporary credentials. */
  sessionToken?: string | undefined
}

/**
 * Returns temporary credentials; AWS SDK credential providers fit. Called before each request and may cache; `forceRefresh` is true after
 * the service rejected the credentials.
 */
export type AwsCredentialSource = (options?: { forceRefresh?: boolean }) => Promise<AwsCredentials>

/** Credentials for Bedrock: one of these, or none with a proxy. */
export interface BedrockKeys {
  /** A Bedrock API key, sent unchanged; or `accessKeyId:secretAccessKey[:sessionToken]` for signing. */
  apiKey?: ApiKey
  /** With `secretAccessKey`: long-lived or temporary credentials for signing. */
  accessKeyId?: string
  secretAccessKey?: string
  sessionToken?: string
  /** Source of expiring credentials for signing. */
  credentials?: AwsCredentialSource
}

/**
 * Returns credentials as one text per call: a Bedrock API key, or AWS credentials joined by colons. Throws `ConfigError` `invalidOption`
 * for half a pair.
 */
export function bedrockCredentials(keys: BedrockKeys): CredentialProvider | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, credentials } = keys
  if (credentials !== undefined) return refreshing(credentials)
  if (accessKeyId === undefined && secretAccessKey === undefined) return credentialsOf(keys.apiKey)
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ConfigError('invalidOption', 'accessKeyId and secretAccessKey belong together, and one of them is missing. Give both.')
  }
  return staticCredential(joined({ accessKeyId, secretAccessKey, sessionToken }))
}

/** Parses AWS credentials from a text; `undefined` for a Bedrock API key, which has no colon. A session token may have some. */
export function awsCredentialsOf(credential: string): AwsCredentials | undefined {
  const [accessKeyId = '', secretAccessKey, ...token] = credential.trim().split(':')
  if (secretAccessKey === undefined || accessKeyId === '' || secretAccessKey === '') return undefined
  const sessionToken = token.join(':')
  return sessionToken === '' ? { accessKeyId, secretAccessKey } : { accessKeyId, secretAccessKey, sessionToken }
}

/** Returns all secrets in `credential` for redaction, as a whole and in parts. */
export function secretsOf(credential: string): readonly string[] {
  const aws = awsCredentialsOf(credential)
  if (aws === undefined) return [credential]
  return [credential, aws.secretAccessKey, aws.sessionToken ?? '', aws.accessKeyId]
}

function refreshing(source: AwsCredentialSource): CredentialProvider {
  let isRejected = false
  return {
    current: async () => {
      const credentials = await (isRejected ? source({ forceRefresh: true }) : source())
      isRejected = false
      return joined(credentials)
    },
    invalidate: () => {
      isRejected = true
    },
  }
}

function joined({ accessKeyId, secretAccessKey, sessionToken }: AwsCredentials): string {
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])].join(':')
}
