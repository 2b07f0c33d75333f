/** What to do about a stored image whose build context is lost or isn't ours: packing it again mends it. */
export const WRITE_IMAGE_ANEW = "write the image anew: agent-env run <bundle> --rebuild";
