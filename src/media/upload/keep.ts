import type { ServiceAccess } from './service-call.ts'

/** How much of a file was sent. */
export interface UploadProgress {
  /** Bytes. */
  sent: number
  /** Bytes. */
  total: number
}

/** A file on its way to a service. */
export interface Upload {
  /** Its type is right. */
  blob: Blob
  name: string
  /** Seconds. */
  expiresAfter: number | undefined
  onProgress: (progress: UploadProgress) => void
}

/** What a service keeps. */
export interface KeptFile {
  fileId: string
  /** Epoch ms; absent where the service keeps it until it is deleted. */
  expiresAt?: number
}

/** How one service keeps files. */
export interface FileService {
  /** For people. */
  name: string
  /** How long it can be told to keep a file, in seconds; absent where it cannot be told. */
  lifetime?: readonly [least: number, most: number]
  /** Most bytes of a file. */
  maxBytes: number
  /** Whether a block with its id can be a picture. */
  takesPictures: boolean
  keep(upload: Upload, access: ServiceAccess): Promise<KeptFile>
}
