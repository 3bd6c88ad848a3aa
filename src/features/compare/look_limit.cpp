#include "features/compare/look_limit.h"

#include "assay/record/comparison.h"

namespace assay {

void limit_looks(int most_pairs, ComparisonPlan& plan) {
  while (plan.looks.size() > 1 && plan.looks.back() > most_pairs) {
    const double dropped = plan.alpha.back();
    plan.looks.pop_back();
    plan.alpha.pop_back();
    plan.alpha.back() += dropped;
  }
}

}  // namespace assay
