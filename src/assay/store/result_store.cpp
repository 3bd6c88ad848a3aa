#include "assay/store/result_store.h"
