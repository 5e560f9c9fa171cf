import { csrfHeader, toApiError, unreachable } from './request.ts';

/** Sends a file and reports progress (0 to 1), which fetch cannot do. */
export function upload<Answer>(
  path: string,
  file: File,
  onProgress: (part: number) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open('POST', `/console${path}`);
    const headers = { ...csrfHeader(), 'content-type': 'application/octet-stream' };
    for (const [name, value] of Object.entries(headers)) sending.setRequestHeader(name, value);
    sending.responseType = 'json';
    sending.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    sending.onload = () => {
      if (sending.status < 300) resolve(sending.response as Answer);
      else reject(toApiError(sending.status, sending.response));
    };
    sending.onerror = () => reject(unreachable());
    sending.send(file);
  });
}
