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
 * Returns temporary credentials. Accepts AWS SDK credential providers. Called before each request and may cache. `forceRefresh` is true
 * after AWS rejected the credentials.
 */
export type AwsCredentialSource = (options?: { forceRefresh?: boolean }) => Promise<AwsCredentials>

/** Credentials for Bedrock. Set one of these options, or none when using a proxy. */
export interface BedrockKeys {
  /** A Bedrock API key, sent unchanged, or `accessKeyId:secretAccessKey[:sessionToken]` for signing. */
  apiKey?: ApiKey
  /** With `secretAccessKey`: long-lived or temporary credentials for signing. */
  accessKeyId?: string
  secretAccessKey?: string
  sessionToken?: string
  /** Source of expiring credentials for signing. */
  credentials?: AwsCredentialSource
}

/**
 * Returns the credentials for each call as one string: a Bedrock API key, or AWS credentials joined by colons. Throws `ConfigError`
 * `invalidOption` for an incomplete pair of AWS credentials.
 */
export function bedrockCredentials(keys: BedrockKeys): CredentialProvider | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, credentials } = keys
  if (credentials !== undefined) return refreshing(credentials)
  if (accessKeyId === undefined && secretAccessKey === undefined) return credentialsOf(keys.apiKey)
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ConfigError('invalidOption', 'accessKeyId and secretAccessKey must be set together. Pass both.')
  }
  return staticCredential(joined({ accessKeyId, secretAccessKey, sessionToken }))
}

/** Parses AWS credentials, or `undefined` for a Bedrock API key, which contains no colon. A session token may contain colons. */
export function awsCredentialsOf(credential: string): AwsCredentials | undefined {
  const [accessKeyId = '', secretAccessKey, ...token] = credential.trim().split(':')
  if (secretAccessKey === undefined || accessKeyId === '' || secretAccessKey === '') return undefined
  const sessionToken = token.join(':')
  return sessionToken === '' ? { accessKeyId, secretAccessKey } : { accessKeyId, secretAccessKey, sessionToken }
}

/** Returns all secrets in `credential` for redaction: the whole string and its parts. */
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
